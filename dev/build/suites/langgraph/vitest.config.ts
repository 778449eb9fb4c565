/** Imports nothing, so that it works where no vitest is installed. */
export default {
  root: import.meta.dirname,
  test: {
    include: ["validation.ts"],
    globals: true, // the suite expects the functions of a test runner there
    testTimeout: 60_000, // milliseconds
    hookTimeout: 60_000,
    // Node loads the installed files as they are
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
}
