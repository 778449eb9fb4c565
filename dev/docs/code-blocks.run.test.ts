/**
 * Runs every code block against the simulator and checks the output that the comment before it expects: in `npm test` those of the README,
 * in `npm run test:all` those of every page. `DOCS_PAGE=recipes npx vitest run dev/docs` runs the blocks of the pages whose path contains
 * that text.
 */
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest"
import { loadSettings } from "../../packages/core/src/settings/settings.ts"
import { isWhole, size } from "../../packages/core/test/size.ts"
import { type CodeBlock, codeBlocks } from "./code-blocks.ts"
import {
  bundledPrograms,
  installPackages,
  layOut,
  programFile,
  type Ran,
  runCommands,
  runPrograms,
} from "./run-block.ts"

const AT_ONCE = 2 // number of cores to use
const root = join(import.meta.dirname, "../..")
const scratch = join(root, ".docs-run", String(process.pid)) // inside the workspace, so that the packages resolve
const pages = globSync(["*.md", "docs/**/*.md", "packages/*/README.md"], { cwd: root })
  .filter((page) => page.includes(process.env.DOCS_PAGE ?? ""))
  .toSorted()
const blocks = pages.flatMap((page) => codeBlocks(page, readFileSync(join(root, page), "utf8")))
const runPages = process.env.DOCS_PAGE ? pages : size(["README.md"], pages)
/** Languages that do not run here. Each command is a process, and the tests of the program run commands anyway. */
const leftOut = process.env.DOCS_PAGE || isWhole ? ["json"] : ["json", "sh"]
const runnable = blocks.filter(
  ({ page, language, plan }) => runPages.includes(page) && plan.kind === "run" && !leftOut.includes(language),
)
const nameOf = ({ page, line }: CodeBlock) => `${page}:${line}`

describe("code blocks of the documentation", () => {
  const ran = new Map<CodeBlock, Promise<Ran>>()

  beforeAll(() => {
    const bundle = inject("bundle")
    installPackages(bundle, join(scratch, "pages"))
    for (const page of pages) layOut(directoryOf(page))
    for (const { page, plan, code } of blocks)
      if (plan.kind === "file") writeFileSync(join(directoryOf(page), plan.name), code)
    // each lane takes every nth page, so that at most that many run at once
    for (let lane = 0; lane < AT_ONCE; lane++) {
      let before: Promise<unknown> = Promise.resolve()
      const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
        const run = before.then(work)
        before = run.catch(() => undefined)
        return run
      }
      for (const page of pages.filter((_, index) => index % AT_ONCE === lane)) {
        const context = { programs: bundledPrograms(bundle), directory: directoryOf(page) }
        const own = runnable.filter((block) => block.page === page)
        const programs = own.filter(({ language }) => language === "ts")
        const results = programs.length === 0 ? Promise.resolve([]) : inTurn(() => runPrograms(programs, context))
        for (const [i, block] of programs.entries())
          ran.set(
            block,
            results.then((all) => all[i]!),
          )
        for (const block of own.filter(({ language }) => language === "sh"))
          ran.set(
            block,
            inTurn(() => runCommands(block, context)),
          )
      }
    }
  })
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  test.each(runnable.map((block) => [nameOf(block), block] as const))("%s does what it says", async (_, block) => {
    const { exitCode, output, cacheRead, refused } = await ran.get(block)!
    const { plan } = block
    expect(exitCode, output).toBe(0)
    expect(output.trim(), "it prints something").not.toBe("")
    expect(refused).toEqual([])
    if (plan.kind !== "run") return
    for (const pattern of plan.prints) expect(output).toMatch(pattern)
    if (plan.cached) expect(cacheRead).toBeGreaterThan(0)
  })

  test.each(blocks.filter(({ language }) => language === "json").map((block) => [nameOf(block), block] as const))(
    "%s is a valid settings file",
    async (_, { code }) => {
      const home = join(scratch, "settings")
      mkdirSync(home, { recursive: true })
      writeFileSync(join(home, "settings.json"), code)
      await expect(loadSettings({ home, cwd: scratch, env: {} })).resolves.toBeDefined()
    },
  )

  test.runIf(isWhole)("the TypeScript blocks pass the strict type check", async () => {
    await Promise.allSettled(ran.values()) // wait, because the machine is busy enough
    const directory = join(scratch, "types")
    for (const block of blocks.filter(({ language }) => language === "ts")) {
      const own = join(directory, block.page.replaceAll(/\W/g, "-"))
      mkdirSync(own, { recursive: true })
      programFile({ ...block, code: `${block.code}\nexport {}\n` }, own)
    }
    writeFileSync(
      join(directory, "tsconfig.json"),
      JSON.stringify({ extends: join(root, "tsconfig.json"), include: ["**/*.ts"] }),
    )
    const compiler = join(root, "node_modules/typescript/lib/tsc.js")
    // several checkers repeat much of the work, and the other core is busy with other tests
    const { stdout } = spawnSync(process.execPath, [compiler, "-p", directory, "--singleThreaded"])
    expect(String(stdout)).toBe("")
  })

  test("a block that runs says what it must show", () => {
    const silent = blocks.filter(
      ({ language, plan }) => language !== "json" && plan.kind === "run" && plan.prints.length === 0 && !plan.cached,
    )
    expect(silent.map(nameOf)).toEqual([])
  })

  test("a block that is not run says why", () => {
    for (const { plan, page, line } of blocks)
      if (plan.kind === "not run") expect(plan.reason, `${page}:${line}`).toMatch(/\w+ \w+/)
  })
})

function directoryOf(page: string): string {
  return join(scratch, "pages", page.replaceAll(/\W/g, "-"))
}
