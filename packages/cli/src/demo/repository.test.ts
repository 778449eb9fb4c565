import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { repositoryToShow } from "./repository.ts"

it("shows the checkout strata runs from, else the current directory", () => {
  expect(repositoryToShow(tmpdir())).toBe(join(import.meta.dirname, "..", "..", "..", ".."))
  expect(repositoryToShow(tmpdir(), join(tmpdir(), "node_modules", "strata", "src"))).toBe(tmpdir())
})
