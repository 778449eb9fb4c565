/** Directories where the program may not write or finds something other than a file: clear messages, nothing lost, no crash. */
import { execFile, spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { skipBecause } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { type Workbench, workbench } from "./workbench.ts"

const PROGRAM = join(inject("bundle"), "cli", "dist", "several-commands.js")
const NOBODY = "65534"
const isRoot = process.getuid?.() === 0 // root may write anywhere, so the program runs as another user
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"]
const opened: string[] = []
const RAW = /\bat .*\(.*:\d+:\d+\)|failed unexpectedly|^\s*(?:Error|EACCES|EISDIR|EROFS)\b/m

/** Whether the other user can read the program, because a checkout may be in a private directory. */
const mayRun = process.platform !== "win32" && (!isRoot || canReadProgram())
const RUNS = mayRun
  ? {}
  : skipBecause({
      part: "places that cannot be written",
      why: "other users cannot read this checkout, and root may write anywhere",
    })

function canReadProgram(): boolean {
  const reads = `require("node:fs").readFileSync(${JSON.stringify(PROGRAM)})`
  const [file, ...args] = [...AS_NOBODY, process.execPath, "-e", reads]
  return spawnSync(file!, args).status === 0
}

interface Ran {
  readonly code: number
  readonly text: string
}

/** Runs commands in sequence, in one process with the rights of its user only. */
function runAll(
  bench: Workbench,
  lines: readonly (readonly string[])[],
  envs: readonly object[] = [{}],
): Promise<readonly Ran[]> {
  const commands = envs.flatMap((env) => lines.map((args) => ({ args, env })))
  const program = [process.execPath, PROGRAM, JSON.stringify(commands)]
  const [file, ...rest] = isRoot ? [...AS_NOBODY, ...program] : program
  return new Promise((resolve, reject) => {
    const child = execFile(file!, rest, { cwd: bench.project, env: bench.env }, (error, stdout, stderr) => {
      if (error) return reject(new Error(`${error.message}\n${stderr}`))
      const ended = JSON.parse(stdout) as { code: number; stdout: string; stderr: string }[]
      resolve(ended.map((one) => ({ code: one.code, text: `${one.stdout}${one.stderr}` })))
    })
    child.stdin?.end()
  })
}

const run = async (bench: Workbench, args: readonly string[]): Promise<Ran> => (await runAll(bench, [args]))[0]!

async function place(turns: readonly string[] = ["Hello.", "Hello."]) {
  const bench = await workbench({ turns: [...turns] })
  mkdirSync(bench.home, { recursive: true })
  await give(join(bench.home, ".."))
  for (const above of ["..", "../.."]) chmodSync(join(bench.home, above), 0o755)
  return { ...bench, [Symbol.asyncDispose]: () => reopen().then(() => bench[Symbol.asyncDispose]()) }
}

/** A bench with a conversation. */
async function usedPlace() {
  const bench = await place()
  expect((await bench.here(["run", "Hi."])).code).toBe(0)
  await give(join(bench.home, ".."))
  return bench
}

/** Changes the owner of the complete directory to the user who runs the program. */
const give = (directory: string) =>
  new Promise((resolve) => (isRoot ? execFile("chown", ["-R", `${NOBODY}:${NOBODY}`, directory], resolve) : resolve(0)))

function close(path: string, mode = 0o555): void {
  chmodSync(path, mode)
  opened.push(path)
}

/** Restores the permissions, so that the directory can be removed. */
async function reopen(): Promise<void> {
  for (const path of opened.splice(0)) chmodSync(path, 0o755)
}

const memoryOf = ({ home }: Workbench) => {
  const [project] = readdirSync(join(home, "projects"))
  return join(home, "projects", project!, "memory")
}

const COMMANDS = [
  ["memory"],
  ["memory", "history"],
  ["dream"],
  ["dream", "status"],
  ["agents"],
  ["unlock"],
  ["recall", "--search", "x"],
]

test("BEY-9 L6-5 a home that cannot be written: every command answers with a sentence", RUNS, async () => {
  await using bench = await place()
  close(bench.home)
  const lines = [...COMMANDS, ["run", "Hi."]]
  const all = await runAll(bench, lines, [{}, { STRATA_HOME: join(bench.home, "missing") }])
  for (const ended of [all.slice(0, lines.length), all.slice(lines.length)]) {
    for (const [at, args] of COMMANDS.entries()) {
      expect(ended[at]!.text, args.join(" ")).not.toMatch(RAW)
      expect(ended[at]!.text.trim(), args.join(" ")).not.toBe("")
    }
    const { code, text } = ended.at(-1)!
    expect(code).toBe(1)
    expect(text).toMatch(/Nothing was sent. Set STRATA_HOME to another directory|permission denied/)
    expect(text).not.toMatch(RAW)
  }
})

test.runIf(isWhole)(
  "BEY-9 L6-5 a dream that has something to do says why it cannot start where nothing can be written",
  RUNS,
  async () => {
    await using bench = await usedPlace()
    const memory = memoryOf(bench)
    mkdirSync(memory, { recursive: true })
    const files = ["a", "b"].map((name) => join(memory, `${name}.md`))
    for (const file of files) writeFileSync(file, "# Uses pnpm\n\nThe project uses pnpm.\n")
    await give(memory)
    for (const directory of [memory, join(memory, ".."), bench.home]) close(directory)
    const { code, text } = await run(bench, ["dream"])
    expect(text).toContain("The dream could not start (permission denied, EACCES")
    expect(text).not.toMatch(RAW)
    expect(code).toBe(1)
    for (const file of files) expect(readFileSync(file, "utf8")).toContain("uses pnpm")
  },
)

test.runIf(isWhole)(
  "BEY-9 L5-8 a memory that cannot be written is read all the same, and a project too",
  RUNS,
  async () => {
    await using bench = await usedPlace()
    const memory = memoryOf(bench)
    mkdirSync(memory, { recursive: true })
    writeFileSync(join(memory, "pnpm.md"), "# Uses pnpm\n\nThe project uses pnpm.\n")
    await give(memory)
    close(memory)
    close(bench.project)
    const [listed, shown, forgotten, answered, ...others] = await runAll(bench, [
      ["memory"],
      ["memory", "show", "pnpm"],
      ["memory", "forget", "pnpm"],
      ["run", "Hi again."],
      ...COMMANDS,
    ])
    for (const one of [listed, shown]) expect(one).toMatchObject({ code: 0, text: expect.stringContaining("pnpm") })
    for (const [at, { text }] of others.entries()) expect(text, COMMANDS[at]!.join(" ")).not.toMatch(RAW)
    expect(forgotten).toMatchObject({ code: 1, text: expect.stringContaining("permission denied") })
    expect(forgotten!.text).toContain("This change was not made")
    expect(answered!.text).toContain("Hello.")
    expect(answered!.text).not.toMatch(RAW)
    expect(readFileSync(join(memory, "pnpm.md"), "utf8")).toContain("uses pnpm")
  },
)

test.runIf(isWhole)("L6-5 a dream leaves out what it cannot read, and names it", RUNS, async () => {
  await using bench = await usedPlace()
  const memory = memoryOf(bench)
  mkdirSync(join(memory, "closed"), { recursive: true })
  mkdirSync(join(memory, "MEMORY.md"))
  for (const name of ["a", "b"]) writeFileSync(join(memory, `${name}.md`), "# Uses pnpm\n\nThe project uses pnpm.\n")
  writeFileSync(join(memory, "secret.md"), "# Secret\n\nx\n")
  writeFileSync(join(memory, "latin.md"), Buffer.from([0x68, 0xe9]))
  await give(memory)
  close(join(memory, "secret.md"), 0o000)
  close(join(memory, "closed"), 0o000)
  const [dreamt, listed] = await runAll(bench, [["dream"], ["memory"]])
  expect(dreamt!.text).not.toMatch(RAW)
  expect(dreamt!.code).toBe(0)
  for (const name of ["secret.md", "latin.md", "closed"]) expect(dreamt!.text).toContain(name)
  expect(listed!.text).toContain("MEMORY.md was in the way of a change")
})
