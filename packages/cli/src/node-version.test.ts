import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { nodeProblem, OLDEST_NODE } from "./node-version.ts"

test.each(["22.18.0", "22.19.1", "23.0.0", "24.21.0", "100.0.0"])("Node %s can run the program", (version) => {
  expect(nodeProblem(version)).toBeUndefined()
})

test.each(["12.22.12", "16.9.1", "20.19.0", "22.9.0", "22.17.1"])("Node %s is too old, in one line", (version) => {
  expect(nodeProblem(version)).toBe(
    `strata needs Node 22.18 or newer, and this is Node ${version}. You can get one from https://nodejs.org.`,
  )
})

test.each(["core", "sim", "cli"])("%s asks for the same Node", (folder) => {
  const manifest = readFileSync(join(import.meta.dirname, "../..", folder, "package.json"), "utf8")
  expect(JSON.parse(manifest).engines.node).toBe(`>=${OLDEST_NODE}`)
})
