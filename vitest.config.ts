import { configDefaults, defineConfig } from "vitest/config"
import { LeftOutReporter } from "./dev/tests/left-out.ts"
import { LongestFirst } from "./dev/tests/order.ts"

// too dear for every run: `npm run test:all` runs these, see CONTRIBUTING.md
const onlyWhole = process.env.TEST_SIZE === "whole" ? [] : ["**/*.whole.test.{ts,tsx}"]

export default defineConfig({
  test: {
    include: ["packages/*/{src,test,examples}/**/*.test.{ts,tsx}", "{dev,examples}/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...onlyWhole],
    setupFiles: ["dev/tests/seeds.ts"],
    globalSetup: ["dev/tests/setup.ts", "packages/postgres/test/shared-setup.ts"],
    // the same for all: a loaded machine is slow, a deadlock is for ever
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 3, // of two cores: many tests wait for a process they started
    // tests keep to their own files and close what they open, so workers can be shared: half the time
    isolate: false,
    // Node reads the sources as a user's Node does: nothing is transformed, and no test replaces a module
    experimental: { viteModuleRunner: false, nodeLoader: false },
    reporters: ["default", new LeftOutReporter()],
    sequence: { sequencer: LongestFirst },
  },
})
