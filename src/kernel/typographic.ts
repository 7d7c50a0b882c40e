/**
 * A sentence of the API as pages and emails show it. The API writes ASCII apostrophes, which are
 * easy to compare and type; texts for people have typographic ones.
 */
export const typographic = (sentence: string): string =>
  sentence.replaceAll(/(?<=\p{L})'(?=\p{L})/gu, '’')
