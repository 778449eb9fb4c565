/** The documentation keeps up with the code: tables name what there is, and links lead somewhere. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { FIGURES, SWITCHES } from "@strata/core/internal"
import { describe, expect, test } from "vitest"
import { FLOORS } from "./check-structure.ts"

const root = join(import.meta.dirname, "..")
const settings = readFileSync(join(root, "docs/settings.md"), "utf8")

describe("documentation", () => {
  test.each(SWITCHES.map((flag) => [flag.name, flag] as const))(
    "FLG-1 names the switch %s with its default",
    (name, { env, on, about }) => {
      expect(settings).toContain(`| \`${name}\` | \`${env}\` | ${on ? "on" : "off"} | ${about} |`)
    },
  )

  test.each(FIGURES.map((figure) => [figure.name, figure] as const))(
    "FLG-2 names the figure %s with its default",
    (name, { env, value }) => {
      expect(settings).toContain(`| \`${name}\` | \`${env}\` | ${value.toLocaleString("en-US")} `)
    },
  )

  test("FLG-1 FLG-2 names no switch or figure that does not exist", () => {
    const named = [
      ...settings.slice(settings.indexOf("## Switches")).matchAll(/^\| `([a-z-]+)` \| `STRATA_[A-Z_]+` \|/gm),
    ].map(([, name]) => name!)
    const known: readonly string[] = [...SWITCHES, ...FIGURES].map(({ name }) => name)
    expect(named.filter((name) => !known.includes(name))).toEqual([])
  })

  test("the architecture page draws the floors that the structure check enforces", () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
    const drawn = [...page.matchAll(/^([a-z]+)\/ {2,}/gm)].map(([, floor]) => floor!)
    expect(drawn.toReversed()).toEqual(FLOORS)
  })

  test("every dependency is named with its reason", () => {
    const reasons = readFileSync(join(root, "docs/dependencies.md"), "utf8")
    for (const file of globSync("packages/*/package.json", { cwd: root })) {
      const { dependencies = {} } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
        dependencies?: Record<string, string>
      }
      for (const name of Object.keys(dependencies))
        if (!name.startsWith("@strata/")) expect(reasons).toContain(`\`${name}\``)
    }
  })

  test("links inside the project lead somewhere", () => {
    for (const file of ["README.md", ...globSync("{docs,packages/*}/*.md", { cwd: root })]) {
      const text = readFileSync(join(root, file), "utf8")
      for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
        expect(existsSync(join(root, dirname(file), target!)), `${file}: ${target}`).toBe(true)
      }
    }
  })

  test("npm scripts that the documentation names exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>
    }
    for (const file of ["README.md", ...globSync("{docs,packages/*}/*.md", { cwd: root })]) {
      const text = readFileSync(join(root, file), "utf8")
      for (const [, name] of text.matchAll(/npm run ([\w-]+)/g)) expect(Object.keys(scripts), file).toContain(name)
    }
  })
})
