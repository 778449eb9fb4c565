import { existsSync } from "node:fs"
import { join } from "node:path"
import { trace } from "@opentelemetry/api"
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { projectName } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { defaultLayers } from "../../../src/conversation/default-layers.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { openBank } from "../../../src/memory/bank.ts"
import type { MemoryDraft } from "../../../src/memory/memory.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { isWhole } from "../../size.ts"
import { ask, project } from "../agent/agents.ts"
import { decisions, everythingIn, say, stage, textOfRequest, type Where } from "./remembering.ts"

const bankOf = ({ cwd, dir }: Where, at = "2026-11-01T00:00:00Z") =>
  openBank({
    files: fileStore({ root: dir }).memories({ project: projectName(cwd) }),
    clock: { now: () => new Date(at) },
  })

const keep = (where: Where, ...puts: readonly MemoryDraft[]) =>
  bankOf(where).change({ by: "extraction", why: "test", source: { saidBy: "user" }, puts })

const QUIET = { settings: { switches: { "auto-memory": false } } }
const PORT: MemoryDraft = {
  name: "Staging database",
  description: "Where the staging database runs",
  type: "reference",
  body: "The staging database runs on port 5433.",
}
const TABS: MemoryDraft = { name: "Tabs", description: "Indentation", type: "feedback", body: "Always use tabs." }

/** The attachments of a request that come from the memory. */
const attached = (messages: readonly { content: readonly { text?: string }[] }[]) =>
  messages.flatMap(({ content }) =>
    content.flatMap(({ text = "" }) => (/A memory from|A passage of|rules and preferences/.test(text) ? [text] : [])),
  )

describe("what a conversation starts with", () => {
  test("L5-5 a second conversation knows what the first one learned", async () => {
    const { open, requests } = await stage()
    const first = await open()
    await say(first, "Always use tabs, because our linter wants them.")
    await first.close()
    const second = await open()
    await say(second, "Hello")
    const [start] = attached(requests.at(-1)!.messages)
    expect(start).toContain("Always use tabs, because our linter wants them.")
    expect(start).toContain("\n15 Nov: Always use tabs, because our linter wants them.")
    expect(JSON.stringify(requests.at(-1)!.system)).not.toContain("tabs")
  })

  test("L5-5 rules and preferences in full, other memories as lines of the index, all within 1,500 tokens", async () => {
    const { open, requests, where } = await stage()
    const many = Array.from({ length: 60 }, (_, at) => ({ ...PORT, name: `Service ${at}`, body: "x".repeat(500) }))
    await keep(where, TABS, ...many)
    const agent = await open(QUIET)
    await say(agent, "Hello")
    const [start] = attached(requests.at(-1)!.messages)
    expect(start).toContain("Always use tabs.")
    expect(start).toMatch(/\[Service \d+\]\(service-\d+\.md\): Where the staging database runs/)
    const shown = start!.match(/^- \[Service \d+\]/gm)!.length
    expect(start).toContain(`[${60 - shown} more memories are not shown. MEMORY.md there lists all.]`)
    expect(start).not.toContain("xxxx")
    expect(engineOf(agent.conversation).views.estimator.text(start!)).toBeLessThanOrEqual(1_500)
  })

  test.runIf(isWhole)(
    "L5-5, L5-14 twenty rules take at most 600 tokens, then who the person is, then the index; what is not shown is counted right",
    async () => {
      const { open, requests, where } = await stage()
      const rules = Array.from({ length: 20 }, (_, at) => ({
        ...{ name: `Rule ${at}`, description: "d", type: "feedback" as const },
        body: `When I ask about topic ${at}, always include its sources.`,
      }))
      const who = { name: "Who", description: "d", type: "user" as const, body: "I am a nurse in Oslo." }
      const many = Array.from({ length: 240 }, (_, at) => ({ ...PORT, name: `Service ${at}` }))
      await keep(where, who, ...many, ...rules)
      const agent = await open({ ...QUIET, settings: { ...QUIET.settings, memory: "read-only" } })
      await say(agent, "Hello")
      const [start] = attached(requests.at(-1)!.messages)
      const own = start!.slice(start!.indexOf("The user's rules"), start!.indexOf("Other memories"))
      expect(
        engineOf(agent.conversation).views.estimator.text(own.slice(0, own.indexOf("What the user said"))),
      ).toBeLessThanOrEqual(600)
      for (const { body } of rules) expect(own).toContain(`\n1 Nov: ${body}\n`)
      expect(own.indexOf("\n1 Nov: I am a nurse in Oslo.")).toBeGreaterThan(own.lastIndexOf("always include"))
      const shown = start!.match(/^- \[Service \d+\]/gm)!.length
      expect(start).toContain(`[${240 - shown} more memories are not shown.`)
    },
  )

  test("L5-11 a superseded rule is not among them", async () => {
    const { open, requests, where } = await stage()
    await keep(where, TABS)
    await keep(where, {
      name: "Spaces",
      description: "Indentation",
      type: "feedback",
      supersedes: ["tabs.md"],
      body: "Always use spaces.",
    })
    const agent = await open(QUIET)
    await say(agent, "Which indentation do we use: tabs or spaces?")
    expect(textOfRequest(requests.at(-1)!)).toContain("Always use spaces.")
    expect(textOfRequest(requests.at(-1)!)).not.toContain("Always use tabs.")
  })

  test.runIf(isWhole)(
    "L5-5 after a compaction the rules are attached again, once; a recalled memory may be recalled again",
    async () => {
      const { open, requests, where } = await stage()
      await keep(where, TABS, PORT)
      const agent = await open({ settings: { ...QUIET.settings, figures: { "tail-min": 0, "keep-messages": 0 } } })
      await say(agent, `Which port does the staging database run on? ${"Context. ".repeat(2_000)}`)
      await say(agent, `And now? ${"More context. ".repeat(2_000)}`)
      await agent.conversation.compact()
      await say(agent, "Which port does the staging database run on?")
      const after = attached(requests.at(-1)!.messages)
      expect(after.filter((text) => text.includes("Always use tabs."))).toHaveLength(1)
      expect(after.filter((text) => text.includes("port 5433"))).toHaveLength(1)
      await say(agent, "Hello")
      expect(attached(requests.at(-1)!.messages)).toEqual(after)
    },
  )
})

describe("L5-7 memories that fit a message", () => {
  test.each(["thanks!", "continue", "ok, go on please", "Great, thank you", "deploy", "weiter", "好的"])(
    "L5-7 small talk recalls nothing: %s",
    async (text) => {
      const { open, requests, where } = await stage()
      await keep(where, { ...PORT, body: "Thanks to the continue flag, deploy runs again. Great, weiter, 好的." })
      const agent = await open(QUIET)
      await say(agent, text)
      expect(textOfRequest(requests.at(-1)!)).not.toContain("continue flag")
    },
  )

  test("L5-7 what the conversation shows already is not attached", async () => {
    const { open, requests, where } = await stage()
    await keep(where, PORT)
    const agent = await open(QUIET)
    await say(agent, "Is it right that the log says: The staging database runs on port 5433.")
    expect(textOfRequest(requests.at(-1)!)).not.toContain("A memory from")
  })

  test("L5-7, BEY-5 attached with age and source, once per conversation, at the end; nothing where nothing fits", async () => {
    const { open, requests, where } = await stage()
    await keep(where, PORT)
    const agent = await open(QUIET)
    await say(agent, "Hello there")
    expect(
      attached(requests.at(-1)!.messages).filter((text) => text.startsWith("<system-reminder>\nA memory")),
    ).toEqual([])
    await say(agent, "Which port does the staging database run on?")
    const last = requests.at(-1)!.messages.at(-1)!
    expect(attached([last])).toEqual([
      expect.stringMatching(
        /A memory from 14 days ago \(file staging-database\.md\)\. Source: written by the user, 2026-11-01\.[\s\S]*port 5433/,
      ),
    ])
    await say(agent, "Is the staging database port open?")
    expect(attached(requests.at(-1)!.messages).filter((text) => text.includes("port 5433"))).toHaveLength(1)
  })

  test("L5-7 it is in the journal with the words that found it, and at most five at once", async () => {
    const { open, where } = await stage()
    await keep(where, ...Array.from({ length: 8 }, (_, at) => ({ ...PORT, name: `Staging database ${at}` })))
    const agent = await open(QUIET)
    await say(agent, "Which port does the staging database run on?")
    const found = []
    for await (const entry of agent.conversation.entries())
      if (entry.type === "attachment" && entry.attachment.type === "memory") found.push(entry.attachment)
    expect(found).toHaveLength(5)
    const asked = engineOf(agent.conversation).views.words.messages[0]!.uuid
    expect(found[0]!.why).toEqual({ message: asked, words: expect.arrayContaining(["staging", "database", "port"]) })
  })

  test("BEY-5 a passage of a past conversation fills the gap where no memory fits", async () => {
    const { open, requests } = await stage({ script: ["The nightly importer crashed on the umlaut in Käsekuchen."] })
    const first = await open(QUIET)
    await say(first, "Why did the nightly importer crash?")
    await first.close()
    const second = await open(QUIET)
    const notices: string[] = []
    second.conversation.on("layerActed", ({ message }) => void (message && notices.push(message)))
    await say(second, "What crashed the nightly importer?")
    const [passage] = attached([requests.at(-1)!.messages.at(-1)!])
    expect(passage).toMatch(/A passage of an earlier conversation from today \(.*#.*\)\. Source: said by/)
    expect(passage).toContain("importer")
    expect(notices[0]).toMatch(
      /^Recalled: (a passage of an earlier conversation|2 passages of earlier conversations)\.$/,
    )
  })

  test("BEY-9 a memory that names a file that is gone is marked as such", async () => {
    const { open, requests, where } = await stage({ where: project({ "src/kept.ts": "export {}\n" }) })
    await keep(
      where,
      {
        ...PORT,
        name: "Parser",
        description: "Where the parser is",
        type: "project",
        body: "The parser is in `src/parser/old-parser.ts`.",
      },
      {
        ...PORT,
        name: "Writer",
        description: "Where the writer is",
        type: "project",
        body: "The writer is in `src/kept.ts`.",
      },
    )
    const agent = await open(QUIET)
    await say(agent, "Where are the parser and the writer?")
    const texts = attached([requests.at(-1)!.messages.at(-1)!])
    expect(texts.find((text) => text.includes("old-parser"))).toContain(
      "The code no longer has src/parser/old-parser.ts",
    )
    expect(texts.find((text) => text.includes("kept.ts"))).not.toContain("no longer has")
  })
})

describe("bytes", () => {
  test("a resumed conversation sends the same bytes, and looks nothing up again", async () => {
    const { open, where } = await stage()
    await keep(where, TABS, ...Array.from({ length: 8 }, (_, at) => ({ ...PORT, name: `Staging database ${at}` })))
    const agent = await open({ ...QUIET, id: "again" })
    await say(agent, "Which port does the staging database run on?")
    await agent.conversation.add("And which port does the staging database use in tests?")
    const live = serialiseRequest(await agent.conversation.prepare())
    await agent.close()
    await keep(where, { ...PORT, name: "Staging database, new" })
    const resumed = await open({ ...QUIET, id: "again" })
    expect(serialiseRequest(await resumed.conversation.prepare())).toBe(live)
  })

  test("`off` leaves no trace: no file, no attachment, no fork, and the same bytes as without the layer", async () => {
    const run = async (off: boolean) => {
      const { open, requests, where, memory, forks } = await stage({ where: project() })
      const agent = await open(
        off
          ? { settings: { memory: "off" } }
          : { makeLayers: (parts) => defaultLayers(parts).filter(({ name }) => name !== "auto-memory") },
      )
      await say(agent, "Always use tabs. I am new to Rust.")
      const text = requests.map((request) => JSON.stringify(request)).join("\n")
      return { memory, forks, text: text.replaceAll(where.cwd, "/project") }
    }
    const [off, without] = [await run(true), await run(false)]
    expect(off.text).toBe(without.text)
    expect(off.forks).toEqual([])
    expect(existsSync(off.memory)).toBe(false)
  })

  test("a memory that cannot be read costs the memories, not the conversation, and is reported once", async () => {
    const { open, where, requests } = await stage()
    const store = fileStore({ root: where.dir })
    const broken = { ...store.memories({ project: "x" }), list: () => Promise.reject(new Error("the disk is gone")) }
    const agent = await open({ ...QUIET, store: { ...store, memories: () => broken } })
    const failures: string[] = []
    agent.conversation.on("layerFailed", ({ layer, reason }) => failures.push(`${layer}: ${reason}`))
    const { end } = await say(agent, "Hello")
    await say(agent, "Hello again")
    expect(end.reason).toBe("answer")
    expect(failures).toEqual(["auto-memory: the disk is gone"])
    expect(requests).toHaveLength(2)
  })
})

describe("agent.remember", () => {
  test("L5-8 saves a memory of the user at once, and the model knows it with the next request", async () => {
    const { open, requests, where } = await stage()
    const agent = await open(QUIET)
    await say(agent, "Hello")
    expect(await agent.remember("never push to main")).toMatchObject({
      file: "never-push-to-main.md",
      type: "feedback",
    })
    expect(await agent.remember("I am colour-blind")).toMatchObject({ type: "user" })
    const [first] = await bankOf(where).all()
    expect(first!.source).toEqual({ saidBy: "user", conversation: agent.conversation.id })
    expect((await decisions(agent, "memory-written")).map(({ by }) => by)).toEqual(["person", "person"])
    await say(agent, "Go on")
    expect(textOfRequest(requests.at(-1)!)).toContain("never push to main")
  })

  test("BEY-9 a secret is refused, and so is everything while the memory is off or read-only", async () => {
    const { open, memory } = await stage()
    const agent = await open(QUIET)
    await expect(agent.remember("the password is hunter2-Correct-Horse-77")).rejects.toThrow(/contains a secret/)
    await expect(agent.remember("  ")).rejects.toThrow(/the text is empty/)
    expect(everythingIn(memory)).not.toContain("hunter2")
    for (const mode of ["off", "read-only"] as const) {
      const closed = await open({ settings: { memory: mode } })
      await expect(closed.remember("use tabs")).rejects.toThrow(`the setting memory is "${mode}"`)
    }
  })
})

test("L5-6 a conversation that closes during an extraction does not wait for it, and the next one looks again", async () => {
  const asked = Promise.withResolvers<void>()
  let isSlow = true
  const { open, forks, memory } = await stage({
    onFork: () => {
      asked.resolve()
      return isSlow ? new Promise(() => undefined) : undefined
    },
  })
  const agent = await open({ id: "again" })
  await ask(agent, "The runbook is at https://wiki.test/runbook.")
  await asked.promise
  await agent.close()
  expect(existsSync(join(memory, "MEMORY.md"))).toBe(false)
  isSlow = false
  const resumed = await open({ id: "again" })
  await say(resumed, "Show the diff.")
  expect(forks.length).toBeGreaterThan(1)
  expect(everythingIn(memory)).toContain("The runbook is at https://wiki.test/runbook.")
})

describe("TEL-2 memories written and recalled are counted", () => {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  beforeEach(() => void trace.setGlobalTracerProvider(provider))
  afterEach(() => trace.disable())

  test.runIf(isWhole)("TEL-2 on the span of the layer, without their content", async () => {
    const { open } = await stage()
    const first = await open()
    await say(first, "Always use tabs in the importer.")
    const second = await open()
    await say(second, "Hello")
    await second.remember("the importer runs at night")
    await say(second, "Go on")
    const spans = exporter.getFinishedSpans().filter(({ name }) => name === "strata.layer auto-memory")
    const events = spans.flatMap((span) => span.events.map((event) => [event.name, event.attributes?.count]))
    expect(events).toContainEqual(["strata.memories.written", 1])
    expect(events).toContainEqual(["strata.memories.recalled", 1])
    expect(JSON.stringify(spans.map((span) => [span.attributes, span.events]))).not.toContain("tabs")
  })
})
