/** Kills, manual edits and full disks at random moments of a change: nothing is lost without a copy, and every message is true. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import fc from "fast-check"
import { expect, test } from "vitest"
import { memoryText } from "../../test/dreams.ts"
import { DREAMT, isRemoved } from "../../test/memory/turmoil-texts.ts"
import { size } from "../../test/size.ts"
import { scratchDirectory } from "../../test/tool-context.ts"
import { systemClock } from "../base/clock.ts"
import { memoryDirectory } from "../journal/file/memory-directory.ts"
import { openBank } from "./bank.ts"
import { INDEX_FILE } from "./file-names.ts"

const WRITER = fileURLToPath(new URL("../../test/memory/turmoil-writer.ts", import.meta.url))
const RUNS = Math.min(Number(process.env.FUZZ_RUNS ?? size(1, 12)), 1_000)
const AT_ONCE = 2
const FILES = Array.from({ length: 10 }, (_, at) => `m${at}.md`)
const MAX_MS = 60 // about the time that a change of these files takes

interface Turmoil {
  /** Manual edits: which file, after how many milliseconds, and how the editor saves. */
  readonly edits: readonly { file: number; after: number; way: "in place" | "by rename" }[]
  readonly trouble: "none" | "kill" | "full disk"
  /** Milliseconds until the kill, or the number of the first call that fails. */
  readonly at: number
}

const turmoil: fc.Arbitrary<Turmoil> = fc.record({
  edits: fc.uniqueArray(
    fc.record({
      file: fc.nat(FILES.length - 1),
      after: fc.nat(MAX_MS),
      way: fc.constantFrom("in place", "by rename"),
    }),
    { selector: ({ file }) => file, maxLength: 6 },
  ),
  trouble: fc.constantFrom("none", "kill", "full disk", "full disk"),
  at: fc.nat(60),
})

test(`BEY-9 L6-6 ${RUNS} changes under kills, edits and full disks lose nothing, and say what is true`, async () => {
  const seed = Number(process.env.FUZZ_SEED ?? 24)
  const all = fc.sample(turmoil, { numRuns: RUNS, seed })
  const ends: string[] = []
  const work = async (some: readonly Turmoil[]) => {
    for (const one of some) ends.push(...(await survive(one)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, (_, half) => work(all.filter((_one, at) => at % AT_ONCE === half))))
  if (RUNS < 100) return
  console.log(Object.fromEntries([...new Set(ends)].map((end) => [end, ends.filter((one) => one === end).length])))
  for (const end of ["installed", "kept an edit", "unchanged", "unfinished", "killed"]) expect(ends).toContain(end)
})

async function survive(turmoil: Turmoil): Promise<readonly string[]> {
  const directory = join(scratchDirectory(), "memory")
  mkdirSync(directory)
  for (const file of FILES) writeFileSync(join(directory, file), memoryText(file.replace(".md", ""), `known ${file}`))
  const first = bankIn(directory)
  await first.all()
  const end = await changeUnder(turmoil, directory)
  const bank = bankIn(directory)
  await bank.change({ by: "agent", why: "later", puts: [{ file: "later.md", text: memoryText("later", "later") }] })
  const memories = await bank.all() // completes the interrupted change, and restores late edits
  await bank.problems()
  const context = JSON.stringify({ turmoil, end, directory })

  const edited = new Map(turmoil.edits.map((edit) => [FILES[edit.file]!, handText(edit.file)]))
  for (const [file, text] of edited) expect(await bank.text(file), context).toContain(text.trim().split("\n").at(-1)!)
  const untouched = FILES.filter((file) => !edited.has(file))
  const isChanged = (file: string) => {
    const body = memories.find((memory) => memory.file === file)?.body
    return isRemoved(file) ? body === undefined : (body ?? "").includes(DREAMT)
  }
  const changed = untouched.filter(isChanged)
  const expected = {
    installed: untouched,
    unfinished: untouched,
    unchanged: [],
    MemoryConflictError: [],
    killed: changed.length > 0 ? untouched : [], // all or nothing
  }[end.state]
  expect(expected, context).toBeDefined()
  expect(changed, context).toEqual(expected)

  // every text that the change replaced or removed is in the history or the archive
  const copies = everything(directory)
  for (const file of changed)
    expect(
      copies.some((text) => text.includes(`known ${file}`)),
      context,
    ).toBe(true)
  expect(readFileSync(join(directory, INDEX_FILE), "utf8")).not.toContain("undefined")
  expect(
    // an owner file that the kill left empty is removed after a minute
    readdirSync(directory).filter(
      (name) => !isEmpty(join(directory, name)) && /intent|\.draft$|^\.lock|^\.alive/.test(name),
    ),
    context,
  ).toEqual([])
  if (end.seen && "problem" in end.seen) expect.unreachable(`${end.seen.problem} ${context}`)
  if (end.state === "unfinished") {
    // a reader sees the complete change although the disk is still full
    const seen = new Map((end.seen as { files: [string, string][] }).files)
    for (const file of untouched)
      if (isRemoved(file)) expect(seen.has(file), context).toBe(false)
      else expect(seen.get(file), context).toContain(DREAMT)
  }
  return [end.state, ...(end.kept?.length ? ["kept an edit"] : [])]
}

function isEmpty(path: string): boolean {
  const facts = statSync(path)
  return facts.isFile() && facts.size === 0
}

const bankIn = (directory: string) => openBank({ files: memoryDirectory({ directory, clock: systemClock }) })
const handText = (file: number) => memoryText(`m${file}`, `saved by hand ${file}`)

interface End {
  readonly state: "installed" | "unfinished" | "unchanged" | "killed" | "MemoryConflictError"
  readonly message?: string
  readonly kept?: readonly string[]
  readonly seen?: { readonly files: readonly [string, string][] } | { readonly problem: string }
}

async function changeUnder({ edits, trouble, at }: Turmoil, directory: string): Promise<End> {
  const failing = trouble === "full disk" ? at : -1
  const child = spawn(process.execPath, [WRITER, directory, String(failing)], { stdio: ["pipe", "pipe", "inherit"] })
  const exit = once(child, "exit")
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  child.stdin.end()
  const saving = edits.map(async ({ file, after, way }) => {
    await wait(after)
    const target = join(directory, FILES[file]!)
    if (way === "in place") return writeFile(target, handText(file))
    writeFileSync(`${target}~`, handText(file))
    renameSync(`${target}~`, target)
  })
  const killing = trouble === "kill" ? wait(at).then(() => child.kill("SIGKILL")) : undefined
  const [{ value }] = await Promise.all([lines.next(), ...saving, killing])
  await exit
  return value === undefined ? { state: "killed" } : (JSON.parse(String(value)) as End)
}

/** The texts of all files, without the records of replaced texts. */
const everything = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith(".replaced"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
