import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { isWhole } from "../../../test/size.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { isReadOnly } from "../defaults.ts"
import { createGrep, grep } from "./grep.ts"

function tree(files: Readonly<Record<string, string | Buffer>>) {
  const at = scratchDirectory()
  for (const [age, [name, content]] of Object.entries(files).entries()) {
    mkdirSync(dirname(join(at, name)), { recursive: true })
    writeFileSync(join(at, name), content)
    utimesSync(join(at, name), 1_000 + age, 1_000 + age)
  }
  const context = testContext({ at })
  const search = async (input: object) => textIn(await call(grep, input, context))
  return { at, context, search }
}

describe("LOOP-3 Grep", () => {
  const project = () =>
    tree({
      "a.ts": "const alpha = 1\nconst beta = 2\n",
      "src/b.ts": "alpha()\nAlpha()\nalpha()\n",
      "src/说明.md": "第一行 alpha\n",
      "c.py": "alpha = 1\n",
    })

  test("names the files, the newest first", async () => {
    const { search } = project()
    expect(await search({ pattern: "alpha" })).toBe("c.py\nsrc/说明.md\nsrc/b.ts\na.ts")
    expect(await search({ pattern: "gamma" })).toBe("No matches.")
  })

  test("shows lines with their numbers and surroundings", async () => {
    const { search } = project()
    expect(await search({ pattern: "beta", output_mode: "content" })).toBe("a.ts:2:const beta = 2")
    expect(await search({ pattern: "beta", output_mode: "content", "-n": false })).toBe("a.ts:const beta = 2")
    expect(await search({ pattern: "beta", output_mode: "content", "-B": 1 })).toBe(
      "a.ts-1-const alpha = 1\na.ts:2:const beta = 2",
    )
    expect(await search({ pattern: "Alpha", output_mode: "content", "-C": 1, path: "src/b.ts" })).toBe(
      "src/b.ts-1-alpha()\nsrc/b.ts:2:Alpha()\nsrc/b.ts-3-alpha()",
    )
    expect(await search({ pattern: "Alpha", output_mode: "content", "-A": 1 })).toBe(
      "src/b.ts:2:Alpha()\nsrc/b.ts-3-alpha()",
    )
  })

  test("counts", async () => {
    const { search } = project()
    expect((await search({ pattern: "alpha", output_mode: "count", "-i": true })).split("\n").sort()).toEqual([
      "a.ts:1",
      "c.py:1",
      "src/b.ts:3",
      "src/说明.md:1",
    ])
  })

  test.runIf(isWhole)("looks only in the given files", async () => {
    const { search } = project()
    expect(await search({ pattern: "alpha", glob: "*.ts" })).toBe("src/b.ts\na.ts")
    expect(await search({ pattern: "alpha", glob: "!*.ts" })).toBe("c.py\nsrc/说明.md")
    expect(await search({ pattern: "alpha", type: "py" })).toBe("c.py")
    expect(await search({ pattern: "alpha", path: "src", glob: "*.md" })).toBe("src/说明.md")
  })

  test("matches across lines where that is asked for, and looks around", async () => {
    const { search } = project()
    expect(await search({ pattern: "alpha = 1.const", multiline: true })).toBe("a.ts")
    expect(await search({ pattern: "alpha = 1.const" })).toBe("No matches.")
    expect(await search({ pattern: "(?<=const )beta" })).toBe("a.ts")
  })

  test("stops at the limit and says so", async () => {
    const { search } = project()
    expect(await search({ pattern: "alpha", path: "src/b.ts", output_mode: "content", head_limit: 1 })).toBe(
      "src/b.ts:1:alpha()\n[The first 1 lines; there are more. Narrow the search, or raise head_limit.]",
    )
    expect(await search({ pattern: "alpha", head_limit: 2 })).toMatch(/^c\.py\nsrc\/说明\.md\n\[The first 2 files/)
  })

  test("says what is wrong with a pattern, a type, a path", async () => {
    const { search } = project()
    await expect(search({ pattern: "foo(" })).rejects.toThrow(/cannot search for foo\(\nerror: unclosed group/)
    await expect(search({ pattern: "x", type: "klingon" })).rejects.toThrow('"klingon" is not a file type')
    await expect(search({ pattern: "x", path: "sr" })).rejects.toThrow("sr does not exist")
  })

  test("what the model writes is never an option", async () => {
    const { at, search } = tree({ "a.txt": "--files\n--pre=touch owned\n", "-l": "alpha\n" })
    expect(await search({ pattern: "--files" })).toBe("a.txt")
    expect(await search({ pattern: "--pre=touch owned", output_mode: "count" })).toBe("a.txt:1")
    expect(await search({ pattern: "alpha", path: "-l" })).toBe("-l")
    expect(await search({ pattern: "alpha", glob: "--pre=touch" })).toBe("No matches.")
    await expect(search({ pattern: "alpha", type: "--pre=touch" })).rejects.toThrow("is not a file type")
    expect(existsSync(join(at, "owned"))).toBe(false)
  })

  test("leaves out what git ignores, node_modules and binary files, unless it begins there", async () => {
    const { search } = tree({
      ".gitignore": "dist/\n",
      "dist/a.js": "alpha",
      "node_modules/x/b.js": "alpha",
      "c.bin": Buffer.from("\0\0alpha"),
      ".hidden/d.js": "alpha",
    })
    expect(await search({ pattern: "alpha" })).toBe(".hidden/d.js")
    expect(await search({ pattern: "alpha", path: "dist" })).toBe("dist/a.js")
    expect(await search({ pattern: "alpha", path: "node_modules/x" })).toBe("node_modules/x/b.js")
  })

  test.runIf(isWhole)("a huge line and a huge file do not fill the window", async () => {
    const { search } = tree({
      "line.txt": `alpha${"x".repeat(10_000_000)}`,
      "many.txt": "alpha and more\n".repeat(700_000),
    })
    const line = await search({ pattern: "alpha", path: "line.txt", output_mode: "content" })
    expect(line.length).toBeLessThan(1_000)
    const many = await search({ pattern: "alpha", output_mode: "content", head_limit: 1_000_000 })
    expect(many.length).toBeLessThan(41_000)
  })

  test("L1-1 more lines are returned where large results are put aside", async () => {
    const { search, at } = tree({ "many.txt": "alpha and more\n".repeat(5_000) })
    const asked = { pattern: "alpha", output_mode: "content", head_limit: 1_000_000 } as const
    expect((await search(asked)).split("\n").length).toBeLessThan(2_000)
    const whole = textIn(await call(grep, asked, testContext({ at, offloadsResults: () => true })))
    expect(whole.split("\n")).toHaveLength(5_000)
  })

  test("a pipe is not waited for", async () => {
    const { at, search } = tree({ "a.txt": "alpha" })
    execFileSync("mkfifo", [join(at, "pipe")])
    await expect(search({ pattern: "alpha", path: "pipe" })).rejects.toThrow("neither a file nor a directory")
    expect(await search({ pattern: "alpha" })).toBe("a.txt")
  })
})

describe("LOOP-3 a search that does not end", () => {
  /** A replacement for ripgrep that prints one line with its process id and never ends. */
  function endlessSearch() {
    const { at } = tree({ "a.txt": "alpha" })
    const program = join(at, "endless")
    writeFileSync(program, `#!/bin/sh\necho "${at}/a.txt:1:alpha"\necho $$ > "${at}/pid"\nexec sleep 600\n`)
    chmodSync(program, 0o755)
    const pid = () => (existsSync(join(at, "pid")) ? Number(readFileSync(join(at, "pid"), "utf8")) : 0)
    const started = async () => {
      while (pid() === 0) await wait(2)
    }
    const isRunning = () => {
      try {
        return process.kill(pid(), 0)
      } catch {
        return false
      }
    }
    return { at, tool: createGrep({ program, timeoutMs: LIMIT_MS }), started, isRunning }
  }
  const LIMIT_MS = 600_000
  const input = { pattern: "alpha", output_mode: "content" }

  test("is killed by an abort", async () => {
    const { at, tool, started, isRunning } = endlessSearch()
    const abort = new AbortController()
    const search = call(tool, input, testContext({ at, signal: abort.signal }))
    await started()
    expect(isRunning()).toBe(true)
    abort.abort()
    await expect(search).rejects.toThrow(/abort/i)
    expect(isRunning()).toBe(false)
  })

  test("is killed by its time limit, and reports what it found", async () => {
    const { at, tool, started, isRunning } = endlessSearch()
    const late = new AbortController() // time limit that the test triggers
    const limit = vi.spyOn(AbortSignal, "timeout").mockReturnValue(late.signal)
    onTestFinished(() => limit.mockRestore())
    const search = call(tool, input, testContext({ at }))
    await started()
    expect(limit).toHaveBeenCalledWith(LIMIT_MS)
    expect(isRunning()).toBe(true)
    late.abort()
    expect(textIn(await search)).toBe(
      "a.txt:1:alpha\n[The search was stopped after 600 s: there may be more. Narrow it.]",
    )
    expect(isRunning()).toBe(false)
  })

  test("a program that cannot be started is an error of this call", async () => {
    const { at } = tree({ "a.txt": "alpha" })
    const tool = createGrep({ program: join(at, "nowhere") })
    await expect(call(tool, input, testContext({ at }))).rejects.toThrow(/ENOENT/)
  })
})

describe("PERM-2 Grep stays where it was allowed to search", () => {
  test("links are not followed, and the question names where a given one leads", async () => {
    const { at, context, search } = tree({ "a.txt": "alpha" })
    const outside = scratchDirectory()
    writeFileSync(join(outside, "secret.txt"), "alpha")
    symlinkSync(outside, join(at, "door"))
    expect(await search({ pattern: "alpha" })).toBe("a.txt")
    expect(await grep.question!({ pattern: "al", path: "door" }, context)).toEqual({
      kind: "read",
      summary: `search "al" in ${outside}`,
      paths: [outside],
    })
    expect(isReadOnly(grep, { pattern: "x" })).toBe(true)
  })
})

test("PERM-4 Grep leaves out files that a rule for Read denies or asks about, and says how many", async () => {
  const { at, context } = tree({ "a.ts": "alpha\n", ".env": "KEY=alpha\n", "b:1:x.env": "alpha\n" })
  const judgeStep = ({ paths }: { readonly paths?: readonly string[] }) =>
    paths?.[0]?.endsWith(".env")
      ? { verdict: "ask" as const, why: "", byRule: true }
      : { verdict: "ask" as const, why: "" }
  for (const output_mode of ["files", "content", "count"]) {
    const found = textIn(
      await call(grep, { pattern: "alpha", output_mode, "-C": 1, path: at }, { ...context, judgeStep }),
    )
    expect(found).toMatch(/^a\.ts/)
    expect(found).toContain("[2 files were left out: permission rules say so.]")
    expect(found).not.toContain(".env")
  }
})
