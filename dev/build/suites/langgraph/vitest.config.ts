/** This configuration imports nothing, so that it works without an installed vitest. */
export default {
  root: import.meta.dirname,
  test: {
    include: ["validation.ts"],
    globals: true, // the suite expects the functions of a test runner there
    testTimeout: 60_000, // in milliseconds
    hookTimeout: 60_000,
    // Node loads the installed files unchanged
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
}
