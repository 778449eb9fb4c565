/** The program on a store without file paths: every command works through the store interface, and other processes see the same data. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { localUser, openConversation, openMemoryBank } from "@strata/core"
import { extractiveResponder, type Responder, type ScriptedTurn } from "@strata/sim"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { newestPrograms, startServer, type TestServer } from "../../postgres/test/server.ts"
import { startProxy, through } from "../../postgres/test/tcp-proxy.ts"
import { registerNamedStore } from "../src/named-store.ts"
import { WAITING } from "../src/store-waiting.ts"
import { RESTS, startChat } from "./chatting.ts"
import { startDashboard } from "./dashboard-pages.ts"
import { HINTLESS, registerHintless } from "./hintless-store.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { calls, type Workbench, type WorkbenchOptions, workbench } from "./workbench.ts"

sayMissingTerminals()

registerHintless()

const REGISTERED = `--import=${pathToFileURL(join(import.meta.dirname, "register-hintless.ts")).href}`
const LONG = { "log.txt": "port 8080 answers, port 9090 does not\n".repeat(700) }
const READS = [calls({ Bash: { command: "cat log.txt" } }), "I have read the log."]
const SUMMARY = `<summary>\n${"Ports 8080 and 9090 were looked at. ".repeat(60)}\n</summary>`

let server: TestServer | undefined
let database: string | undefined

beforeAll(async () => {
  server = newestPrograms() === undefined ? undefined : await startServer()
  database = await server?.database()
  await registerNamedStore({ STRATA_STORE: database }) // for stores that the tests open themselves
})
afterAll(() => server?.stop())

/** The environment of each bench, isolated from the others. */
const STORES: Readonly<Record<string, (bench: Workbench) => Readonly<Record<string, string>>>> = {
  "files that say nothing of themselves": ({ home }) => ({
    STRATA_STORE: `${HINTLESS}:${join(home, "..", "elsewhere")}`,
    NODE_OPTIONS: REGISTERED,
  }),
  ...(newestPrograms() === undefined
    ? {}
    : {
        PostgreSQL: ({ home }) => ({
          STRATA_STORE: `${database}?tenant=${encodeURIComponent(home)}`,
          STRATA_PROJECT: "shop",
        }),
      }),
}

const [OTHER, NEWEST = OTHER] = Object.keys(STORES) // the newest is a network store, if there is a server

describe.each(Object.entries(STORES))("on %s", (store, storeOf) => {
  /** In `npm test`, these tests run on one store only. */
  const onNewest = test.runIf(isWhole || store === NEWEST)
  const envOf = (bench: Workbench, more: Readonly<Record<string, string>> = {}) => ({
    STRATA_NOTES: "0",
    ...storeOf(bench),
    ...more,
  })

  async function storeBench(options: WorkbenchOptions) {
    const bench = await workbench(options)
    const env = envOf(bench)
    const strata = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await bench.here(args, { env })
      expect({ args, code, stderr }).toMatchObject({ code: 0 })
      return stdout === "" ? stderr : stdout
    }
    return { bench, env, strata }
  }

  /** Files of the program's own directory, which must not contain data of a conversation. */
  const filesIn = (bench: Workbench): readonly string[] =>
    existsSync(bench.home)
      ? readdirSync(bench.home, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"))
      : []

  test.runIf(isWhole)(
    "BEY-12 run, continue, compact, undo, recall, inspect, look, export, replay and unlock work through the port alone",
    async () => {
      const { bench, env, strata } = await storeBench({ turns: [...READS, SUMMARY, "It was port 8080."], files: LONG })
      await using _ = bench
      await strata("run", "Read the log.", "--mode", "bypass")
      expect(await strata("compact")).toContain("ompacted")
      expect(await strata("run", "--continue", "Which port?")).toBe("It was port 8080.\n")
      expect(await strata("undo")).toContain("undone")
      expect(await strata("recall", "--search", "9090", "--kind", "result")).toContain("port 9090 does not")

      const report = JSON.parse(await strata("usage", "--replay", "0", "--json"))
      expect(report).toMatchObject({ conversations: 1, byProgram: [{ name: "strata" }] })
      const { rows } = JSON.parse(await strata("usage", "--search", "Which port", "--json"))
      const [, id] = /^store:[\w-]+\/([\w-]+)$/.exec(rows[0].file)!
      expect(report).toMatchObject({ simulated: 1, total: { dollars: 0 }, saved: { of: 0 } })
      expect(await strata("inspect")).toContain("1 conversation")

      const { conversations } = JSON.parse(await strata("inspect", id!.slice(0, 8), "--json"))
      expect(conversations).toMatchObject([{ format: "strata", id, growth: { sizes: { length: 3 } } }])
      expect(rows[0]).toMatchObject({ cost: "simulated", dollars: 0 })
      expect(conversations[0].money.remarks[0]).toContain("The simulator answered, so nothing was spent.")
      expect(await strata("export", id!.slice(0, 8), "--to", "markdown")).toContain("Which port?")
      expect(await strata("replay", id!.slice(0, 8), "--json")).toContain(id)

      expect(await strata("unlock")).toBe("Nothing of this project is locked.\n")
      const chat = await openConversation({
        ...{ model: "claude-opus-5-5", id: id!, mustExist: true, cwd: bench.project },
        env: { ...bench.env, ...env },
      })
      const held = await bench.here(["unlock", id!.slice(0, 8), "--yes"], { env })
      expect(held).toMatchObject({ code: 1, stdout: "" })
      expect(held.stderr).toContain(`Conversation ${id}: process ${process.pid} on `)
      expect(held.stderr).toContain("releases a conversation by itself")
      await chat.close()
      expect(filesIn(bench)).toEqual([])
    },
  )

  test.runIf(isWhole)("BEY-12 strata agents and strata usage have what an agent did and cost", async () => {
    const { bench, strata } = await storeBench({
      turns: [calls({ Agent: { description: "Count", prompt: "[finder] Count the ports." } }), "There are 2."],
      cast: { finder: ["I counted 2."] },
    })
    await using _ = bench
    await strata("run", "Count the ports.")
    expect(await strata("agents")).toContain("agent-1")
    expect(await strata("agents", "show", "agent-1")).toContain("I counted 2.")
    const { rows } = JSON.parse(await strata("usage", "--search", "Count the ports", "--json"))
    expect(rows).toMatchObject([{ agents: 1, cost: "simulated", dollars: 0 }])
    const { conversations } = JSON.parse(await strata("inspect", rows[0].id.slice(0, 8), "--json"))
    expect(conversations[0].agents.started).toMatchObject([{ requests: 1, dollars: expect.any(Number) }])
  })

  test.runIf(isWhole)(
    "BEY-12, L7-5 a member of a team that is started first waits for the second, and they meet",
    async () => {
      const { bench, env } = await storeBench({
        turns: [],
        cast: {
          first: ["I am here.", "So it is 42."],
          second: [
            calls({ SendMessage: { to: "first", message: "It is 42.", summary: "the answer" } }),
            "I have sent it.",
          ],
        },
      })
      await using _ = bench
      const member = (name: string) =>
        bench.strata(["run", "--team", "pair", "--as", name, `[${name}] Work together.`], { env })
      const first = member("first")
      await first.complained("Waiting up to 60 seconds for one (--team-wait). Ctrl-C ends the wait.")
      const second = member("second")
      expect(await first.ended).toMatchObject({ code: 0, stdout: "I am here.\nSo it is 42.\n" })
      expect(await second.ended).toMatchObject({ code: 0, stdout: "I have sent it.\n" })
    },
  )

  onNewest("BEY-12 memories are kept, searched, changed, and dreamed about through the port alone", async () => {
    const responder: Responder = extractiveResponder()
    const turn: ScriptedTurn = (asked) => responder.answer(asked)
    const { bench, env, strata } = await storeBench({ turns: Array.from({ length: 12 }, () => turn) })
    await using _ = bench
    const bank = await openMemoryBank({ cwd: bench.project, env: { ...bench.env, ...env }, owner: localUser })
    const bodies = [
      "The port is 8080.",
      "The port is 8080.",
      "Ferries leave Bergen at noon.",
      "Owls hoot.",
      "Rye bread.",
    ]
    await bank.change({
      ...{ by: "person", why: "Said so" },
      puts: bodies.map((body, at) => ({ name: `Fact ${at + 1}`, body })),
    })
    expect(await strata("memory")).toContain("fact-1")
    expect(await strata("memory", "search", "Bergen")).toContain("Ferries")
    expect(await strata("dream", "status")).toContain("there has been none yet")
    await strata("dream")
    expect(await strata("dream", "status")).toContain("It cost")
    expect(await strata("memory", "history")).toContain("Said so")
    expect(filesIn(bench)).toEqual([])
  })

  test.runIf(isWhole)(
    "BEY-12 the dashboard shows a conversation, hears of what another process adds, and undoes a compaction",
    async () => {
      const { bench, env, strata } = await storeBench({ turns: [...READS, SUMMARY, "It was port 8080."], files: LONG })
      await using _ = bench
      await strata("run", "Read the log.", "--mode", "bypass")
      await strata("compact")
      const { page, post, events, end } = await startDashboard(bench, env)
      const [, id] = /\/c\/([\w-]+)"/.exec(await page("/"))!
      const [, undo] = /data-post="[^"]*(\/undo\?compaction=[\w-]+)"/.exec(await page(`/c/${id}/compactions`))!
      const heard = await events(`/c/${id}/events`)
      const before = await heard()
      await strata("run", "--continue", "Which port?")
      expect(await heard()).toBeGreaterThan(before)
      expect(await page(`/c/${id}/rows?from=0`)).toContain("It was port 8080.")
      expect(await page(`/c/${id}/find?words=9090`)).toContain("found, best first")
      expect(await post(`/c/${id}${undo}`)).toContain("was undone")
      expect(await page(`/c/${id}/compactions`)).toContain("Not compacted yet")
      expect(await page("/memories")).toContain("Nothing is remembered yet")
      expect(await page("/work")).toContain("There is no background work")
      expect(await end()).toBe(0)
    },
  )

  describe.each(TERMINALS.slice(0, 1))("in $name", ({ open }) => {
    test.runIf(isWhole)(
      "BEY-12 a chat on such a store is kept, exported, and continued by another process",
      async () => {
        await using at = await startChat(open, {
          turns: ["Hello to you.", "Again."],
          inStore: envOf,
        })
        const { bench, terminal } = at
        terminal.type("Say hello")
        terminal.press("enter")
        await terminal.sees("Hello to you.")
        await terminal.sees(RESTS)
        terminal.type("/export markdown talk.md")
        terminal.press("enter")
        await terminal.sees("Exported as markdown to talk.md")
        expect(readFileSync(join(bench.project, "talk.md"), "utf8")).toContain("Hello to you.")
        terminal.type("/exit")
        terminal.press("enter")
        await terminal.sees("strata chat --resume")
        expect(await bench.here(["run", "--continue", "Once more."], { env: envOf(bench) })).toMatchObject({
          ...{ code: 0, stdout: "Again.\n" },
        })
      },
    )
  })
})

test("BEY-12 commands name the server and its tenant, and say what it lacks", needs("postgres"), async () => {
  await using bench = await workbench({ turns: [] })
  const ask = async (command: string, STRATA_STORE: string) =>
    (await bench.here([command], { env: { STRATA_STORE, STRATA_PROJECT: "shop" } })).stdout.replaceAll(/\s+/g, " ")
  const named = `PostgreSQL at 127.0.0.1:${server!.port}/strata_1`
  expect(await ask("config", database!)).toContain(`Store ${named} `)
  expect(await ask("config", `${database}?tenant=acme`)).toContain(`Store ${named}, tenant acme `)
  expect(await ask("doctor", database!)).toContain(`ok store ${named} answers`)
  expect(await ask("doctor", server!.url())).toMatch(/problem store The database has no tables of Strata/)
  expect(await ask("config", server!.url())).toMatch(/Learned limits are not listed, .* no tables of Strata/)
  const away = "postgres://app@127.0.0.1:1/none"
  expect(await ask("doctor", away)).toMatch(/problem store The database did not answer .* asked once, and had 3 sec/)
  expect(await ask("config", away)).toMatch(/not listed, .* did not answer .* asked once, and had 3 seconds to answer/)
})

describe("a server that does not answer", needs("postgres"), () => {
  async function proxied() {
    const proxy = await startProxy(server!.port)
    onTestFinished(() => proxy.close())
    const away = () => {
      proxy.point(1)
      proxy.cutAll()
    }
    const env = { STRATA_NOTES: "0", STRATA_STORE: through(proxy, database!), STRATA_PROJECT: "shop" }
    return { env, away, back: () => proxy.point(server!.port) }
  }

  test.runIf(isWhole)(
    "BEY-12 strata run says that it waits for the database, and goes on when it answers",
    async () => {
      const { env, away, back } = await proxied()
      away()
      await using bench = await workbench({ turns: ["Hello to you."] })
      const running = bench.strata(["run", "Say hello."], { env })
      await running.complained(WAITING)
      back()
      const { code, stdout, stderr } = await running.ended
      expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello to you.\n" })
      expect(stderr).toMatch(/Nothing is lost\.\nThe database answers again\.\n/)
    },
  )

  test.runIf(isWhole).each(TERMINALS.slice(0, 1))(
    "BEY-12 the chat says so too, until the database answers: $name",
    async ({ open }) => {
      const { env, away, back } = await proxied()
      await using at = await startChat(open, { turns: ["Hello to you."], env })
      const { terminal } = at
      away()
      terminal.type("Say hello")
      terminal.press("enter")
      await terminal.sees(WAITING)
      back()
      await terminal.sees("Hello to you.")
      await terminal.sees(RESTS)
    },
  )
})
