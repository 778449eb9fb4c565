import { expect, test } from "vitest"
import { nodeProblem } from "./node-version.ts"

test.each([
  ["24.0.0", undefined],
  ["26.1.0-nightly", undefined],
  ["22.12.0", "@strata/core needs Node 24 or newer. This is Node 22.12.0."],
  ["8.17.0", "@strata/core needs Node 24 or newer. This is Node 8.17.0."],
])("Node %s: %s", (version, problem) => expect(nodeProblem(version)).toBe(problem))
