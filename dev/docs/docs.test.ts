/** Checks that the documentation agrees with the code: tables name existing items, and links lead to a target. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { DESCRIPTIONS } from "../../packages/cli/src/descriptions.ts"
import { attachmentsLabel } from "../../packages/page/src/labels/attachments.ts"
import { CONTEXT_LABELS } from "../../packages/page/src/labels/context.ts"
import { FLOORS } from "../checks/structure.ts"
import { COMMANDS_PAGE, withCommands } from "./commands-table.ts"
import { FLAGS_PAGE, flagsPage } from "./flags-page.ts"
import { headingExists } from "./headings.ts"

const root = join(import.meta.dirname, "../..")
const PAGES = ["*.md", "docs/**/*.md", "packages/*/*.md"]

describe("documentation", () => {
  test("FLG-1 FLG-2 the list of flags has every switch and figure with its default", () => {
    expect(readFileSync(FLAGS_PAGE, "utf8"), "`npm run flags` writes it").toBe(flagsPage())
  })

  test("the reference of the program has every command with its description", () => {
    const page = readFileSync(COMMANDS_PAGE, "utf8")
    expect(page, "`npm run commands` writes it").toBe(withCommands(page))
    for (const { name, about } of DESCRIPTIONS)
      expect(
        page.split("\n").filter((line) => line.startsWith(`| \`strata ${name}`) && line.endsWith(` | ${about} |`)),
      ).toHaveLength(1)
  })

  test("TOK-6 the page about tokens explains every part of a context that a screen names", () => {
    const page = readFileSync(join(root, "docs/tokens.md"), "utf8")
    const kinds = readFileSync(join(root, "packages/core/src/messages/attachments.ts"), "utf8")
    const attachments = [...kinds.matchAll(/readonly type: "(\w+)"/g)].map(([, kind]) => attachmentsLabel(kind!))
    expect(attachments.length).toBeGreaterThan(25)
    const labels = [...Object.values(CONTEXT_LABELS), ...attachments]
    expect(labels.filter((label) => !page.includes(label))).toEqual([])
  })

  test("the architecture page draws the floors that the structure check enforces", () => {
    const page = readFileSync(join(root, "docs/development/architecture.md"), "utf8")
    const drawn = [...page.matchAll(/^([a-z-]+)\/ {2,}/gm)].map(([, floor]) => floor!)
    expect(drawn.toReversed()).toEqual(FLOORS)
  })

  test("every dependency is named with its reason", () => {
    const reasons = readFileSync(join(root, "docs/development/dependencies.md"), "utf8")
    for (const file of globSync("packages/*/package.json", { cwd: root })) {
      const { dependencies = {} } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
        dependencies?: Record<string, string>
      }
      for (const name of Object.keys(dependencies))
        if (!name.startsWith("@strata/")) expect(reasons).toContain(`\`${name}\``)
    }
  })

  test("links inside the project lead to a page, and to a heading of it", () => {
    const broken = globSync(PAGES, { cwd: root }).flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8")
      return [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
        .filter(([, page, heading]) => !headingExists(page ? join(dirname(file), page) : file, heading))
        .map(([link]) => `${file} ${link}`)
    })
    expect(broken).toEqual([])
  })

  test("paths of this repository that the documentation names exist", () => {
    const gone = globSync(PAGES, { cwd: root, exclude: ["CHANGELOG.md"] }).flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8")
      return [...text.matchAll(/`((?:packages|dev|docs)\/[\w./-]+)`/g)]
        .filter(([, path]) => !existsSync(join(root, path!)))
        .map(([, path]) => `${file}: ${path}`)
    })
    expect(gone).toEqual([])
  })

  test.each(["A turn in ten files", "A compaction in ten files"])(
    "%s: they exist, and each names the next",
    (title) => {
      const page = readFileSync(join(root, "docs/development/architecture.md"), "utf8")
      const section = page.split(`### ${title}\n`)[1]!.split(/^#/m)[0]!
      const listed = [...section.matchAll(/^\d+\. `([^`]+)`: /gm)].map(([, file]) => file!)
      expect(listed).toHaveLength(10)
      for (const [at, file] of listed.entries()) {
        const text = readFileSync(join(root, "packages/core/src", file), "utf8")
        const next = basename(listed[at + 1] ?? file)
        if (next !== basename(file)) expect(text, file).toMatch(new RegExp(`[/\`]${next}["\`]`))
      }
    },
  )

  test("npm scripts that the documentation names exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>
    }
    for (const file of globSync(PAGES, { cwd: root })) {
      const text = readFileSync(join(root, file), "utf8")
      for (const [, name] of text.matchAll(/npm run ([\w-]+(?::[\w-]+)*)/g))
        expect(Object.keys(scripts), file).toContain(name)
    }
  })
})
