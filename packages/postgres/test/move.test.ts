/** `strata move` between files and a real server: the same bytes and the same rows, even if it is killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import type { Entry } from "@strata/core"
import { moveContents } from "@strata/core/store"
import pg from "pg"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import { needs } from "../../core/test/needs.ts"
import { isWhole, size } from "../../core/test/size.ts"
import { postgresStore } from "../src/index.ts"
import { newestPrograms } from "./server.ts"
import { type SharedServer, sharedServer } from "./shared-server.ts"
import { PROGRAM_ENV, STRATA } from "./strata-program.ts"

const RECORDED = join(import.meta.dirname, "..", "..", "..", "..", "shared", "data", "transcripts")
const PASSWORD = "hunter2-secret"

let server: SharedServer
let root: string
const stores: { close(): Promise<void> }[] = []

beforeAll(async () => {
  if (newestPrograms() !== undefined) server = await sharedServer()
})
afterAll(() => server?.stop())
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "strata-move-"))
})
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  rmSync(root, { recursive: true, force: true })
})

const filesIn = (name: string) => fileStore({ root: join(root, name), flush: "never" })

function tablesAt(connectionString: string) {
  const store = postgresStore({ connectionString, leaseSeconds: 2 })
  stores.push(store)
  return store
}

const user = (text: string): Entry => ({
  ...{ type: "user", uuid: crypto.randomUUID(), parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z" },
  message: { role: "user", content: text },
})

async function conversations(count: number, size: number): Promise<void> {
  const store = filesIn("home")
  for (let n = 0; n < count; n++) {
    const journal = await store.open({ project: "shop", id: `c${n}` }, { access: "write", create: true })
    await journal.append([user(`hello ${n} ${"x".repeat(size)}`), user("四")])
    await journal.writeBlob("result.txt", `result ${n}`)
    await journal.close()
  }
}

/** User data without indexes and locks, which are rebuilt. */
function bytesIn(directory: string): ReadonlyMap<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" })
  const files = names.filter((name) => statSync(join(directory, name)).isFile() && !/\.(?:index|lock)$/.test(name))
  return new Map(files.sort().map((name) => [name, readFileSync(join(directory, name), "latin1")]))
}

/** All rows with user data, without generated numbers. */
async function rowsIn(connectionString: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: connectionString.replace("app@", "owner@") })
  await client.connect()
  try {
    const of = "join strata.journal j using (tenant, jid)"
    const texts = [
      "select project, under, id, bytes, boundary, touched from strata.journal order by 1, 2, 3",
      `select project, under, id, at, is_boundary, key, line from strata.line ${of} order by 1, 2, 3, 4`,
      `select project, under, id, facts, first_words from strata.listing ${of} order by 1, 2, 3`,
      `select project, under, id, name, data from strata.blob ${of} order by 1, 2, 3, 4`,
      `select project, under, id, value from strata.checkpoint ${of} order by 1, 2, 3`,
      `select project, under, id, text from strata.notes ${of} order by 1, 2, 3`,
      "select place, path, text, modified from strata.memory_file order by 1, 2",
      "select t.project, t.name, n, sender, sequence, receivers, content from strata.message join strata.team t using (tenant, tid) order by 1, 2, 3",
      "select t.project, t.name, m.name, conversation, cursor from strata.member m join strata.team t using (tenant, tid) order by 1, 2, 3",
      "select project, name, line from strata.log_line order by 1, 2, n",
    ]
    const found: unknown[] = []
    for (const text of texts) found.push((await client.query(text)).rows)
    return found
  } finally {
    await client.end()
  }
}

interface ExitResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
}

function strata(...args: string[]): { readonly child: ChildProcess; readonly ended: Promise<ExitResult> } {
  const env = { ...PROGRAM_ENV, HOME: root, STRATA_HOME: join(root, "home") }
  const child = spawn(process.execPath, [STRATA, ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  for (const stream of [child.stdout!, child.stderr!])
    stream.on("data", (text: Buffer) => {
      output += text
    })
  const ended = new Promise<ExitResult>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal, output })),
  )
  return { child, ended }
}

async function listOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

/** Ends every other connection to the database, and returns a row for each. */
const END_OTHERS = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(5)
}

describe("BEY-12 moving between files and PostgreSQL", needs("postgres"), () => {
  test.runIf(isWhole)(
    "BEY-12 recorded conversations: files, server and files again have the same bytes, and servers the same rows",
    needs("transcripts"),
    async () => {
      const project = mkdtempSync(join(root, "project-"))
      const chosen = size(
        ["openhands", "swe-agent", "claude-code-log/9e953218-sonnet45.jsonl"],
        ["claude-code-log", "entireio-cli"],
      ).map((name) => join(RECORDED, name))
      const imported = await strata("import", ...chosen, "--cwd", project).ended
      expect(imported.code, imported.output).toBe(0)
      const [first, second] = [await server.database(), await server.database()]
      const there = await moveContents({ from: filesIn("home"), to: tablesAt(first) })
      expect(there.refused).toEqual([])
      expect(there.outcomes.copied).toBeGreaterThan(5)
      const back = await moveContents({ from: tablesAt(first), to: filesIn("back") })
      expect(back.sha256).toBe(there.sha256)
      expect(bytesIn(join(root, "back"))).toEqual(bytesIn(join(root, "home")))
      await moveContents({ from: filesIn("back"), to: tablesAt(second) })
      expect(await rowsIn(second)).toEqual(await rowsIn(first))
    },
  )

  test.runIf(isWhole)(
    "BEY-12 a conversation and a team go on after each move, and a second move takes what is new",
    async () => {
      const [address, url] = [{ project: "shop", id: "c0" }, await server.database()]
      await conversations(1, 10)
      const team = { project: "shop", team: "t" }
      const mailbox = filesIn("home").mailboxes(team)
      const { cursor } = await mailbox.send({ from: "a", to: ["b"], content: { text: "one" } })
      await mailbox.send({ from: "a", to: ["b"], content: { text: "two" } })
      await mailbox.close()
      await moveContents({ from: filesIn("home"), to: tablesAt(url) })
      const journal = await tablesAt(url).open(address, { access: "write" })
      await journal.append([user("on the server")])
      await journal.close()
      const onServer = tablesAt(url).mailboxes(team)
      expect((await onServer.read(cursor)).messages.map(({ content }) => content.text)).toEqual(["two"])
      const three = await onServer.send({ from: "a", to: ["b"], content: { text: "three" } })
      expect(three.sequence).toBe(3)
      await onServer.send({ from: "b", to: ["a"], content: { text: "four" } })

      const back = await moveContents({ from: tablesAt(url), to: filesIn("home") })
      expect(back).toMatchObject({ refused: [], outcomes: { continued: 2, copied: 0 } })
      const again = await filesIn("home").open(address, { access: "write" })
      const entries = await listOf(again.entries())
      expect(entries.map((entry) => (entry.type === "user" ? entry.message.content : "")).slice(1)).toEqual([
        "四",
        "on the server",
      ])
      await again.append([user("in files")])
      await again.close()
      const inFiles = filesIn("home").mailboxes(team)
      expect((await inFiles.read(three.cursor)).messages.map(({ content }) => content.text)).toEqual(["four"])
      expect((await inFiles.read(cursor)).messages).toHaveLength(3)
      const five = await inFiles.send({ from: "a", to: ["b"], content: { text: "five" } })
      await inFiles.close()
      const forth = await moveContents({ from: filesIn("home"), to: tablesAt(url) })
      expect(forth).toMatchObject({ refused: [], outcomes: { continued: 2, copied: 0 } })
      const { messages } = await tablesAt(url).mailboxes(team).read(three.cursor)
      expect(messages.map(({ content }) => content.text)).toEqual(["four", "five"])
      // messages sent from now on come after every saved cursor
      await tablesAt(url)
        .mailboxes(team)
        .send({ from: "a", to: ["b"], content: { text: "six" } })
      const { messages: last } = await tablesAt(url).mailboxes(team).read(five.cursor)
      expect(last.map(({ content }) => content.text)).toEqual(["six"])
      expect(await moveContents({ from: tablesAt(url), to: filesIn("home") })).toMatchObject({
        refused: [],
        outcomes: { continued: 1, equal: 1 },
      })
    },
  )

  test.runIf(isWhole)(
    "BEY-12 a move that is killed or stopped continues where it ended, and says that both sides are equal",
    async () => {
      await conversations(20, 10_000)
      const url = await server.database()
      const client = new pg.Client({ connectionString: url.replace("app@", "owner@") })
      await client.connect()
      /** From now on a journal waits for the lock before it is written. */
      const holdAfter = (journals: number) =>
        client.query(`create or replace function public.hold() returns trigger language plpgsql as $$ begin
          if (select count(*) from strata.journal) >= ${journals} then perform pg_advisory_xact_lock_shared(4711); end if;
          return new; end $$`)
      const isHeld = async () =>
        (await client.query("select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted"))
          .rowCount! > 0
      try {
        await holdAfter(3)
        await client.query(
          "create trigger hold before insert on strata.journal for each row execute function public.hold()",
        )
        await client.query("select pg_advisory_lock(4711)")
        const killed = strata("move", "home", url, "--yes")
        await until(isHeld)
        killed.child.kill("SIGKILL")
        expect((await killed.ended).signal).toBe("SIGKILL")
        await until(async () => (await client.query(END_OTHERS)).rowCount === 0) // the server continues with statements it has received
        await holdAfter(8)
        const stopped = strata("move", "home", url, "--yes")
        await until(isHeld)
        stopped.child.kill("SIGINT")
        await client.query("select pg_advisory_unlock(4711)")
        const { code, output } = await stopped.ended
        expect(code).not.toBe(0)
        expect(output).toContain("The same command continues from here")
        const last = await strata("move", "home", url, "--yes", "--json").ended
        expect(last.code, last.output).toBe(0)
        const report = JSON.parse(last.output) as { outcomes: Record<string, number>; sha256: string }
        expect(report.outcomes.equal).toBeGreaterThan(2)
        const back = await moveContents({ from: tablesAt(url), to: filesIn("back") })
        expect(back.sha256).toBe(report.sha256)
        expect(bytesIn(join(root, "back"))).toEqual(bytesIn(join(root, "home")))
      } finally {
        await client.end()
      }
    },
  )

  test("BEY-12 what is a user's own data reaches a server that others use only after the user saw and approved it", async () => {
    await conversations(2, 10)
    await filesIn("home")
      .memories({ project: "shop" })
      .install([{ path: "mine.md", text: "mine" }])
    const url = await server.database()
    const refused = await strata("move", "home", url).ended
    expect(refused.code).not.toBe(0)
    expect(refused.output).toMatch(/share 2 conversations and 1 memory file .* Nothing was moved\. .* add --yes/)
    const other = await strata("move", "home", url, "--project", "other").ended
    expect(other.output).toContain("There is nothing to move")
    const written = []
    for await (const content of tablesAt(url).contents().list()) written.push(content)
    expect(written).toEqual([])
    const owner = { pid: 1, host: "elsewhere", started: "" } // an owner of which no machine can tell whether it has ended
    await filesIn("home")
      .memories({ project: "other" })
      .install([{ path: ".history/writing/x.json", text: JSON.stringify({ by: "x", owner }) }])
    const command = await strata("move", "home", url, "--yes").ended
    expect(command.output).toContain("An agent is running a command in one of your projects")
    expect((await strata("move", url, "back").ended).output).toContain("There is nothing to move")
  })

  test.runIf(isWhole)(
    "BEY-12 what is something else on the other side is named and kept, and no password is shown",
    async () => {
      await conversations(2, 10)
      const url = await server.database()
      const other = await tablesAt(url).open({ project: "shop", id: "c1" }, { access: "write", create: true })
      await other.append([user("another conversation")])
      await other.close()
      const { code, output } = await strata("move", "home", url.replace("app@", `app:${PASSWORD}@`), "--yes").ended
      expect(code).toBe(1)
      expect(output).toMatch(/1 copied[\s\S]*conversation shop\/c1: a line in the first \d+ bytes differs/)
      expect(output).not.toContain(PASSWORD)
      const journal = await tablesAt(url).open({ project: "shop", id: "c1" }, { access: "read" })
      expect(await listOf(journal.entries())).toHaveLength(1)
    },
  )
})
