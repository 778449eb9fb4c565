import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { nodeProblem, OLDEST_NODE } from "./node-version.ts"

test.each(["24.0.0", "24.21.0", "26.1.0", "100.0.0"])("Node %s can run the program", (version) => {
  expect(nodeProblem(version)).toBeUndefined()
})

test.each(["12.22.12", "16.9.1", "20.19.0", "22.18.0", "23.11.1"])("Node %s is too old, in one line", (version) => {
  expect(nodeProblem(version)).toBe(
    `strata needs Node 24 or newer, and this is Node ${version}. You can get one from https://nodejs.org.`,
  )
})

test.each(["core", "sim", "cli"])("%s asks for the same Node", (folder) => {
  const manifest = readFileSync(join(import.meta.dirname, "../..", folder, "package.json"), "utf8")
  expect(JSON.parse(manifest).engines.node).toBe(`>=${OLDEST_NODE}`)
})
