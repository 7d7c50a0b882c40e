/** The globals that modules of the panel read when they are loaded. Import it before them. */
Object.assign(globalThis, { location: new URL('http://localhost/') })
