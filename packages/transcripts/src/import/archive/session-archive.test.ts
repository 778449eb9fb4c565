import { spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { createInterface } from "node:readline"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { needs } from "../../../../core/test/needs.ts"
import { isWhole, size } from "../../../../core/test/size.ts"
import { readTranscripts } from "../../inspect/read-transcripts.ts"
import { findTranscripts } from "../../public-functions.ts"
import { importConversations } from "../import-conversations.ts"
import { listArchivedTranscripts, listDeletedTranscripts, openSessionArchive } from "./open-archive.ts"

const SESSION = "11111111-2222-4333-8444-555555555555"
const FORK = "99999999-2222-4333-8444-555555555555"
let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "strata-keep-"))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const PROJECT = ".claude/projects/-home-ann-shop"
const at = (path: string) => join(home, path)
const transcript = (id = SESSION) => at(`${PROJECT}/${id}.jsonl`)
const store = () => openSessionArchive({ home, env: {} })

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

const line = (n: number, { id = SESSION, text = `message ${n}` } = {}) =>
  `${JSON.stringify({
    ...{ type: "user", uuid: `u${n}`, parentUuid: n === 0 ? null : `u${n - 1}`, sessionId: id, cwd: "/home/ann/shop" },
    ...{ timestamp: "2026-01-02T03:04:05.000Z", message: { role: "user", content: text } },
  })}\n`

/** Lines that do not compress, so that a session has several chunks. */
const NOISE = Array.from({ length: 12 }, () => randomBytes(48 * 1024).toString("base64"))
const lines = (count: number, id = SESSION) =>
  Array.from({ length: count }, (_, n) => line(n, { id, text: `Fix it ${NOISE[n % NOISE.length]}` })).join("")

function filesBelow(directory: string): Record<string, Buffer> {
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(paths.toSorted().map((path) => [relative(directory, path), readFileSync(path)]))
}
const storedBytes = () =>
  Object.values(filesBelow(at(".strata/kept/pieces"))).reduce((sum, bytes) => sum + bytes.length, 0)
const pieces = () => Object.keys(filesBelow(at(".strata/kept/pieces")))

describe("BEY-17: a archived session", () => {
  test("comes back byte for byte after its program deleted it, with its sub-agents and results", async () => {
    put(transcript(), lines(20))
    put(at(`${PROJECT}/${SESSION}/subagents/agent-a1.jsonl`), line(0))
    put(at(`${PROJECT}/${SESSION}/tool-results/r1.txt`), randomBytes(500_000))
    put(at(`${PROJECT}/agent-b2.jsonl`), line(0, { text: "older versions" }))
    put(at(`${PROJECT}/agent-c3.jsonl`), line(0, { id: FORK }))
    const before = filesBelow(at(PROJECT))
    expect(await store().update()).toMatchObject({ added: 1, grown: 0, failed: [] })
    rmSync(at(PROJECT), { recursive: true })

    const [session] = (await store().list()).sessions
    expect(session).toMatchObject({
      program: "claude-code",
      id: SESSION,
      originalExists: false,
      project: "/home/ann/shop",
    })
    expect(session!.title).toMatch(/^Fix it /)
    const restored = await store().restore(session!)
    expect(restored).toMatchObject({ path: transcript(), files: 4 })
    const { "agent-c3.jsonl": _, ...own } = before
    expect(filesBelow(at(PROJECT))).toEqual(own)
    expect(await store().update()).toMatchObject({ added: 0 })
  })

  test("any bytes come back, also those that look like the sign for the id", async () => {
    const pieceOf = fc.oneof(fc.constant(SESSION), fc.constant("\0"), fc.string(), fc.constant("x".repeat(300_000)))
    await fc.assert(
      fc.asyncProperty(fc.array(pieceOf, { maxLength: 12 }), async (parts) => {
        put(transcript(), Buffer.from(parts.join("")))
        await store().update()
        const session = (await store().list()).sessions.find(({ isEarlier }) => !isEarlier)!
        const to = await mkdtemp(join(home, "restored-"))
        await store().restore(session, to)
        expect(readFileSync(join(to, `${SESSION}.jsonl`)).equals(readFileSync(transcript()))).toBe(true)
      }),
      { numRuns: size(6, 25) },
    )
  })

  test("is not restored over a file, and nothing of it is written then", async () => {
    put(transcript(), lines(1))
    put(at(`${PROJECT}/${SESSION}/subagents/agent-a1.jsonl`), line(0))
    await store().update()
    const [session] = (await store().list()).sessions
    rmSync(transcript())
    await expect(store().restore(session!)).rejects.toThrow(/agent-a1\.jsonl already exists\. Nothing was restored/)
    expect(() => statSync(transcript())).toThrow()
  })

  test("is not restored through a link in the directory, and the link's target stays as it is", async () => {
    put(transcript(), lines(1))
    put(at(`${PROJECT}/${SESSION}/subagents/agent-a1.jsonl`), line(0))
    await store().update()
    mkdirSync(at("elsewhere"))
    mkdirSync(at("to"))
    symlinkSync(at("elsewhere"), at(`to/${SESSION}`))
    const [session] = (await store().list()).sessions
    await expect(store().restore(session!, at("to"))).rejects.toThrow(/is a symbolic link\. Nothing was restored/)
    expect([readdirSync(at("elsewhere")), readdirSync(at("to"))]).toEqual([[], [SESSION]])
  })

  test.runIf(isWhole)("leaves nothing where the disk has no room for it, and can be restored later", async () => {
    put(transcript(), lines(40))
    await store().update()
    const script = `import("${new URL("./open-archive.ts", import.meta.url)}").then(async ({ openSessionArchive }) => {
      const store = openSessionArchive({ home: ${JSON.stringify(home)}, env: {} })
      await store.restore((await store.list()).sessions[0], ${JSON.stringify(at("to"))})
    })`
    const limited = `trap "" XFSZ; ulimit -f 1000; exec "$0" --input-type=module -e "$1"` // the limit in blocks, half of the size
    expect(spawnSync("sh", ["-c", limited, process.execPath, script], { encoding: "utf8" }).stderr).toContain("EFBIG")
    expect(readdirSync(at("to"))).toEqual([])
    const [session] = (await store().list()).sessions
    await expect(store().restore(session!, at("to"))).resolves.toMatchObject({ files: 1 })
  })

  test("that cannot be read is named, not passed over", needs("person"), async () => {
    put(transcript(), lines(1))
    chmodSync(transcript(), 0)
    expect(await store().update()).toMatchObject({ added: 0, failed: [{ path: transcript() }] })
  })

  test.runIf(isWhole)("takes only what is new when it has grown", async () => {
    put(transcript(), lines(60))
    await store().update()
    const before = storedBytes()
    appendFileSync(transcript(), line(60, { text: "one more" }))
    expect(await store().update()).toMatchObject({ added: 0, grown: 1 })
    expect(storedBytes() - before).toBeLessThan(before / 5)
    expect(await store().update()).toMatchObject({ grown: 0, unchanged: 1, bytes: 0 })
    await expect(store().check()).resolves.toEqual({ sessions: 1, mended: [], lost: [] })
  })

  test.runIf(isWhole)("a fork shares the pieces of its parent, though every line has another id", async () => {
    put(transcript(), lines(60))
    await store().update()
    const before = storedBytes()
    put(transcript(FORK), lines(60, FORK))
    await store().update()
    expect(storedBytes()).toBe(before)
    const fork = (await store().list()).sessions.find(({ id }) => id === FORK)!
    await store().restore(fork, at("elsewhere"))
    expect(readFileSync(at(`elsewhere/${FORK}.jsonl`), "utf8")).toBe(lines(60, FORK))
  })

  test.runIf(isWhole)("that begins again keeps its earlier state, and one that lost a file keeps it", async () => {
    put(transcript(), lines(3))
    put(at(`${PROJECT}/${SESSION}/tool-results/r1.txt`), "result")
    await store().update()
    rmSync(at(`${PROJECT}/${SESSION}`), { recursive: true })
    put(transcript(), line(0, { text: "another beginning" }))
    await store().update()
    const { sessions } = await store().list()
    expect(sessions.map(({ isEarlier }) => isEarlier).toSorted()).toEqual([false, true])
    await store().restore(sessions.find(({ isEarlier }) => isEarlier)!, at("earlier"))
    expect(readFileSync(at(`earlier/${SESSION}.jsonl`), "utf8")).toBe(lines(3))
    await store().restore(sessions.find(({ isEarlier }) => !isEarlier)!, at("now"))
    expect(readFileSync(at(`now/${SESSION}/tool-results/r1.txt`), "utf8")).toBe("result")
  })

  test("sessions of other programs are kept too; links are not followed", async () => {
    put(at(".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee.jsonl"), "{}\n")
    put(at(".pi/agent/sessions/--home--/2026_0199aaaa-bbbb-7ccc-8ddd-ffffffffffff.jsonl"), "{}\n")
    put(transcript(), line(0))
    put(at("secret"), "not a part of it")
    mkdirSync(at(`${PROJECT}/${SESSION}`))
    symlinkSync(at("secret"), at(`${PROJECT}/${SESSION}/link.txt`))
    await store().update()
    const { sessions } = await store().list()
    expect(sessions.map(({ program }) => program).toSorted()).toEqual(["claude-code", "codex", "pi"])
    const claude = sessions.find(({ program }) => program === "claude-code")!
    expect(await store().restore(claude, at("to"))).toMatchObject({ files: 1 })
  })

  test("only its owner may read it", async () => {
    put(transcript(), lines(1))
    await store().update()
    for (const entry of readdirSync(at(".strata/kept"), { recursive: true, withFileTypes: true }))
      expect(statSync(join(entry.parentPath, entry.name)).mode & 0o077).toBe(0)
  })

  test("a dry run writes nothing", async () => {
    put(transcript(), lines(1))
    expect(await store().update({ dryRun: true })).toMatchObject({ added: 1, bytes: lines(1).length })
    expect(() => statSync(at(".strata"))).toThrow()
  })

  test("whose record names a file outside its folder is not restored", async () => {
    put(transcript(), line(0))
    await store().update()
    const [session] = (await store().list()).sessions
    const { withSum, withoutSum } = await import("../../../../core/src/journal/line.ts")
    const record = JSON.parse(withoutSum(readFileSync(session!.path).subarray(0, -1)))
    record.files[0].name = "../../escaped.jsonl"
    writeFileSync(session!.path, withSum(JSON.stringify(record)))
    await expect(store().restore(session!, at("to"))).rejects.toThrow(/outside its folder/)
    expect(() => statSync(at("escaped.jsonl"))).toThrow()
  })
})

describe("BEY-17: a archived session that is gone from its place is read like any other", () => {
  beforeEach(async () => {
    put(transcript(), line(0) + line(1))
    put(at(`${PROJECT}/${SESSION}/subagents/agent-a1.jsonl`), line(0))
    await store().update()
  })

  test("by readTranscripts and importConversations", async () => {
    rmSync(at(PROJECT), { recursive: true })
    const [session] = await listArchivedTranscripts({ home, env: {} })
    const [found] = await readTranscripts(session!.path)
    expect(found).toMatchObject({ format: "claude-code", id: SESSION, cwd: "/home/ann/shop" })
    expect(found!.entries.map(({ uuid }) => uuid)).toEqual(expect.arrayContaining(["u0", "u1"]))
    const [imported] = await importConversations({ file: session!.path, dir: at("own"), cwd: home })
    expect(imported).toMatchObject({ id: SESSION, agents: [{ id: "a1" }] })
  })

  test("it is listed among the transcripts of this machine once it is gone", async () => {
    expect(await listDeletedTranscripts({ home, env: {} })).toEqual([])
    expect((await findTranscripts({ home, env: {} })).map(({ path }) => path)).toEqual([transcript()])
    rmSync(transcript())
    const [{ path }] = (await findTranscripts({ home, env: {} })) as unknown as [{ path: string }]
    expect((await readTranscripts(path))[0]).toMatchObject({ id: SESSION })
    expect(await listDeletedTranscripts({ home, env: {} })).toMatchObject([
      { program: "claude-code", size: expect.any(Number) },
    ])
  })
})

describe("BEY-17: erased sessions", () => {
  test("leave no byte, but pieces that another session uses stay", async () => {
    put(transcript(), lines(60))
    put(transcript(FORK), lines(50, FORK) + line(50, { id: FORK, text: NOISE.join("") }))
    await store().update()
    const sessions = (await store().list()).sessions
    const parent = sessions.find(({ id }) => id === SESSION)!
    const before = storedBytes()
    const expected = await store().freedBy([parent])
    expect(await store().erase([parent])).toBe(expected)
    expect(before - storedBytes()).toBe(expected)
    expect(expected).toBeGreaterThan(0)
    expect(expected).toBeLessThan(parent.storedBytes)
    await expect(store().check()).resolves.toEqual({ sessions: 1, mended: [], lost: [] })
    await store().erase((await store().list()).sessions)
    expect(pieces()).toEqual([])
  })

  test("are not kept again by themselves, only when asked for", async () => {
    put(transcript(), line(0))
    await store().update()
    await store().erase((await store().list()).sessions)
    expect(await store().update()).toMatchObject({ added: 0, erased: 1 })
    expect((await store().list()).sessions).toEqual([])
    expect(await store().update({ again: true })).toMatchObject({ added: 1, erased: 0 })
  })

  test("an earlier state goes alone: the session at its place is kept on", async () => {
    put(transcript(), lines(1))
    await store().update()
    put(transcript(), line(0, { text: "another beginning" }))
    await store().update()
    await store().erase((await store().list()).sessions.filter(({ isEarlier }) => isEarlier))
    appendFileSync(transcript(), line(1))
    expect(await store().update()).toMatchObject({ grown: 1, erased: 0 })
  })
})

describe("BEY-17: pieces are never removed because records cannot be read", () => {
  beforeEach(async () => {
    put(transcript(), lines(10))
    await store().update()
  })
  const sessions = () => at(".strata/kept/sessions")

  test("none of them", async () => {
    const before = pieces()
    renameSync(sessions(), at("aside"))
    writeFileSync(sessions(), "") // causes an error other than a missing file
    await expect(store().erase([])).rejects.toThrow(/ENOTDIR/)
    expect(pieces()).toEqual(before)
  })

  test("one of them", async () => {
    const before = pieces()
    truncateSync((await store().list()).sessions[0]!.path, 65 * 1024 * 1024)
    await expect(store().erase([])).rejects.toThrow(/larger than any/)
    expect(pieces()).toEqual(before)
  })
})

describe("BEY-17: what is torn is found and mended", () => {
  const pieceFiles = () => pieces().map((name) => at(`.strata/kept/pieces/${name}`))

  test("a damaged piece, from the file that is still there; or it is named as lost", async () => {
    put(transcript(), lines(10))
    await store().update()
    for (const path of pieceFiles()) writeFileSync(path, readFileSync(path).subarray(0, 100))
    expect(await store().check()).toEqual({ sessions: 1, mended: [transcript()], lost: [] })
    writeFileSync(pieceFiles()[0]!, "")
    rmSync(transcript())
    expect(await store().check()).toEqual({ sessions: 1, mended: [], lost: [transcript()] })
    const [session] = (await store().list()).sessions
    await expect(store().restore(session!)).rejects.toThrow(/damaged or missing/)
    expect(() => statSync(transcript())).toThrow()
  })

  test.runIf(isWhole)("a damaged piece is replaced before a new record relies on it", async () => {
    put(transcript(), lines(20))
    await store().update()
    for (const path of pieceFiles()) writeFileSync(path, "torn")
    appendFileSync(transcript(), line(20))
    await store().update()
    await expect(store().check()).resolves.toMatchObject({ mended: [], lost: [] })
  })

  test("a damaged record does not cost its pieces, and is written again", async () => {
    put(transcript(), lines(20))
    await store().update()
    const { path } = (await store().list()).sessions[0]!
    writeFileSync(path, readFileSync(path).subarray(0, -20))
    expect(await store().list()).toMatchObject({ sessions: [], damaged: [path] })
    await store().erase([])
    expect(pieces().length).toBeGreaterThan(1)
    expect(await store().update()).toMatchObject({ added: 1 })
    expect(await store().list()).toMatchObject({ sessions: [{ id: SESSION }], damaged: [] })
  })

  test.runIf(isWhole)("a killed process leaves a store that the next one completes", async () => {
    const count = 20 // more than are archived concurrently
    for (let n = 0; n < count; n++) put(transcript(SESSION.replace("1111", `${1000 + n}`)), lines(2 + (n % 5)))
    for (const moment of ["0", "9", "14"]) await killedAt(moment)
    put(at(".strata/kept/sessions/0123456789abcdef01234567.json.draft"), "a name and a path")
    expect(await store().update()).toMatchObject({ failed: [] })
    expect((await store().list()).sessions).toHaveLength(count)
    await expect(store().check()).resolves.toEqual({ sessions: count, mended: [], lost: [] })
    const names = [...pieces(), ...readdirSync(at(".strata/kept/sessions"))]
    expect(names.filter((name) => name.endsWith(".draft"))).toEqual([])
  })

  test.runIf(isWhole)("of two processes at once one works, or one after the other; nothing is damaged", async () => {
    for (let n = 0; n < 5; n++) put(transcript(SESSION.replace("1111", `${n}${n}${n}${n}`)), lines(6))
    const line = await Promise.all([kept(), kept(), kept()])
    const reports = line.map((output) => output.at(-1)!)
    expect(reports.filter((report) => report !== "busy").length).toBeGreaterThan(0)
    expect((await store().list()).sessions).toHaveLength(5)
    await expect(store().check()).resolves.toEqual({ sessions: 5, mended: [], lost: [] })
  })
})

const WORKER = join(import.meta.dirname, "../../../test/keep-worker.ts")

function worker() {
  return spawn(process.execPath, [WORKER, home], { stdio: ["ignore", "pipe", "inherit"] })
}

async function kept(): Promise<readonly string[]> {
  const output: string[] = []
  for await (const line of createInterface({ input: worker().stdout })) output.push(line)
  return output
}

/** Kills the process during the session that it reports as started. */
async function killedAt(moment: string): Promise<void> {
  const child = worker()
  const ended = new Promise((resolve) => child.once("close", resolve))
  for await (const line of createInterface({ input: child.stdout })) if (line === moment) child.kill("SIGKILL")
  await ended
}
