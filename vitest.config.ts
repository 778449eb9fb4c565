import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/{src,test,examples}/**/*.test.{ts,tsx}", "{scripts,examples}/**/*.test.ts"],
    testTimeout: 60_000,
    maxWorkers: 2,
  },
})
