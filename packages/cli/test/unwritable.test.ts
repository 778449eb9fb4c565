/** Places where the program may not write, or finds something else than a file: clear sentences, nothing lost, no crash. */
import { execFile, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, test } from "vitest"
import { type Workbench, workbench } from "./workbench.ts"

const PROGRAM = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const NOBODY = "65534"
const isRoot = process.getuid?.() === 0 // root may write anywhere, so the program runs as someone else
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"]
const opened: string[] = []
const RAW = /\bat .*\(.*:\d+:\d+\)|failed unexpectedly|^\s*(?:Error|EACCES|EISDIR|EROFS)\b/m

/** Whether the one that runs the program can read it: a checkout may be in a directory that is closed to others. */
const mayRun = process.platform !== "win32" && (!isRoot || canReadProgram())
if (!mayRun) test.skip("the program cannot be read as another user here, and root may write anywhere", () => {})

function canReadProgram(): boolean {
  const reads = `require("node:fs").readFileSync(${JSON.stringify(PROGRAM)})`
  const [file, ...args] = [...AS_NOBODY, process.execPath, "-e", reads]
  return spawnSync(file!, args).status === 0
}

interface Ran {
  readonly code: number
  readonly text: string
}

function run(bench: Workbench, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const program = [process.execPath, PROGRAM, ...args]
  const [file, ...rest] = isRoot ? [...AS_NOBODY, ...program] : program
  const options = { cwd: bench.project, env: { ...bench.env, ...env }, timeout: 60_000 }
  return new Promise((resolve) => {
    const child = execFile(file!, rest, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, text: `${stdout}${stderr}` }),
    )
    child.stdin?.end()
  })
}

async function place(turns: readonly string[] = ["Hello.", "Hello."]) {
  const bench = await workbench({ turns: [...turns] })
  mkdirSync(bench.home, { recursive: true })
  await give(join(bench.home, ".."))
  for (const above of ["..", "../.."]) chmodSync(join(bench.home, above), 0o755)
  return bench
}

/** The whole place belongs to the one that runs the program. */
const give = (directory: string) =>
  new Promise((resolve) => (isRoot ? execFile("chown", ["-R", `${NOBODY}:${NOBODY}`, directory], resolve) : resolve(0)))

function close(path: string, mode = 0o555): void {
  chmodSync(path, mode)
  opened.push(path)
}

afterAll(() => {
  for (const path of opened.filter((one) => existsSync(one))) chmodSync(path, 0o755) // or it could not be removed
})

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

test.skipIf(!mayRun)(
  "BEY-9 L6-5 a home that cannot be written: every command answers with a sentence",
  { timeout: 240_000 },
  async () => {
    await using bench = await place()
    close(bench.home)
    for (const env of [{}, { STRATA_HOME: join(bench.home, "missing") }]) {
      for (const args of COMMANDS) {
        const { text } = await run(bench, args, env)
        expect(text, args.join(" ")).not.toMatch(RAW)
        expect(text.trim(), args.join(" ")).not.toBe("")
      }
      const { code, text } = await run(bench, ["run", "Hi."], env)
      expect(code).toBe(1)
      expect(text).toMatch(/Nothing was sent. Set STRATA_HOME to another directory|permission denied/)
      expect(text).not.toMatch(RAW)
    }
  },
)

test.skipIf(!mayRun)(
  "BEY-9 L6-5 a dream that has something to do says why it cannot start where nothing can be written",
  { timeout: 240_000 },
  async () => {
    await using bench = await place()
    expect((await run(bench, ["run", "Hi."])).code).toBe(0)
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

test.skipIf(!mayRun)(
  "BEY-9 L5-8 a memory that cannot be written is read all the same, and a project too",
  { timeout: 240_000 },
  async () => {
    await using bench = await place()
    expect((await run(bench, ["run", "Hi."])).code).toBe(0)
    const memory = memoryOf(bench)
    mkdirSync(memory, { recursive: true })
    writeFileSync(join(memory, "pnpm.md"), "# Uses pnpm\n\nThe project uses pnpm.\n")
    await give(memory)
    close(memory)
    close(bench.project)
    for (const args of [["memory"], ["memory", "show", "pnpm"]]) {
      const { code, text } = await run(bench, args)
      expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining("pnpm") })
    }
    for (const args of COMMANDS) expect((await run(bench, args)).text, args.join(" ")).not.toMatch(RAW)
    const forgotten = await run(bench, ["memory", "forget", "pnpm"])
    expect(forgotten).toMatchObject({ code: 1, text: expect.stringContaining("permission denied") })
    expect(forgotten.text).toContain("This change was not made")
    const answered = await run(bench, ["run", "Hi again."])
    expect(answered.text).toContain("Hello.")
    expect(answered.text).not.toMatch(RAW)
    expect(readFileSync(join(memory, "pnpm.md"), "utf8")).toContain("uses pnpm")
  },
)

test.skipIf(!mayRun)("L6-5 a dream leaves out what it cannot read, and names it", { timeout: 240_000 }, async () => {
  await using bench = await place()
  expect((await run(bench, ["run", "Hi."])).code).toBe(0)
  const memory = memoryOf(bench)
  mkdirSync(join(memory, "closed"), { recursive: true })
  mkdirSync(join(memory, "MEMORY.md"))
  for (const name of ["a", "b"]) writeFileSync(join(memory, `${name}.md`), "# Uses pnpm\n\nThe project uses pnpm.\n")
  writeFileSync(join(memory, "secret.md"), "# Secret\n\nx\n")
  writeFileSync(join(memory, "latin.md"), Buffer.from([0x68, 0xe9]))
  await give(memory)
  close(join(memory, "secret.md"), 0o000)
  close(join(memory, "closed"), 0o000)
  const dreamt = await run(bench, ["dream"])
  expect(dreamt.text).not.toMatch(RAW)
  expect(dreamt.code).toBe(0)
  for (const name of ["secret.md", "latin.md", "closed"]) expect(dreamt.text).toContain(name)
  const listed = await run(bench, ["memory"])
  expect(listed.text).toContain("MEMORY.md was in the way of a change")
})
