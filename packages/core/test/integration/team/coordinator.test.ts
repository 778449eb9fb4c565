import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import { projectName } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { isBoundaryEntry, isMessage } from "../../../src/journal/entries.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { contentOf } from "../../../src/messages/messages.ts"
import { isWhole, size } from "../../size.ts"
import { ask, calls, project } from "../agent/agents.ts"
import { saying } from "../layers/conversations.ts"
import {
  agentCall,
  agentJournalOf,
  castSimulator,
  decisions,
  journalOf,
  leadFor,
  received,
  results,
  send,
} from "./cast.ts"

const ROUNDS = size(18, 60) // rounds of an agent, each a sixth of its window

const MODEL = "claude-opus-5-5"
const BACKGROUND = { run_in_background: true }
const SMALL = { models: { [MODEL]: { window: 60_000 } }, switches: { "clear-by-size": false } }

/** The disk of a killed process: its locks are not held, and its sockets not served. */
const copyDisk = (from: string, to: string) =>
  cpSync(from, to, { recursive: true, filter: (path) => !/\.(?:lock|sock)$/.test(path) })

/** A turn that waits for an event. */
const after =
  (event: Promise<void>, answer: ScriptedTurn): ScriptedTurn =>
  async (turn) => {
    await event
    return typeof answer === "function" ? answer(turn) : answer
  }

describe("a coordinator with agents in the background", () => {
  test.runIf(isWhole)(
    "L7-4 L7-5 L7-9 four workers, messages both ways, one killed, one compacting, the coordinator compacting: none starts twice, every result and message arrives once",
    async () => {
      const [compacted, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const { sim, of } = await castSimulator({
        lead: [
          calls(...["fixer", "reader", "stuck", "late"].map((name) => agentCall(`[${name}] Work.`, BACKGROUND))),
          calls(send("agent-2", "Begin with the parser."), send("agent-4", "Report when you begin.")),
          ...Array.from({ length: 7 }, () => saying(8_000)),
          ...Array.from({ length: 12 }, () => "I wait for the others."),
        ],
        fixer: [
          calls(["Read", { file_path: "a.ts" }]),
          calls(["Edit", { file_path: "a.ts", old_string: "bug", new_string: "fix" }]),
          "The fixer is done.",
        ],
        reader: [
          calls(send("lead", "Which part comes first?")),
          ...Array.from({ length: 7 }, () => saying(8_000)),
          after(sent.promise, calls(["Grep", { words: 10 }])), // the next request includes messages sent meanwhile
          "The reader is done.",
        ],
        stuck: [() => new Promise(() => undefined)],
        late: [
          after(compacted.promise, calls(send("lead", "I begin only now."))),
          after(sent.promise, "The late one is done."),
        ],
      })
      const where = project({ "a.ts": "bug" })
      const agent = await leadFor(sim, { ...where, autonomous: true, settings: SMALL })
      const { end } = await ask(agent, "Coordinate four workers.", {
        watch: async (event) => {
          if (event.type === "tool-start" && event.name === "Grep") sent.resolve()
          if (event.type !== "compacted") return
          compacted.resolve()
          await agent.team.stop("agent-3", "It takes too long.")
        },
      })
      expect(end).toMatchObject({ reason: "answer" })
      const entries = await journalOf(agent)
      expect(entries.filter(isBoundaryEntry).length).toBeGreaterThan(0)
      const ids = ["agent-1", "agent-2", "agent-3", "agent-4"]
      expect(decisions(entries, "agent-started").map((entry) => entry.agent)).toEqual(ids)
      expect(
        decisions(entries, "agent-ended")
          .map((entry) => entry.agent)
          .sort(),
      ).toEqual(ids)
      expect(
        results(entries)
          .map(({ id }) => id)
          .sort(),
      ).toEqual(ids)
      expect(agent.team.list().map(({ status }) => status)).toEqual(["completed", "completed", "killed", "completed"])
      expect(results(entries).find(({ id }) => id === "agent-3")?.content).toContain("It takes too long.")
      expect(readFileSync(join(where.cwd, "a.ts"), "utf8")).toBe("fix")
      expect(readFileSync(agent.team.list()[1]!.journal, "utf8")).toContain("compact_boundary")
      expect(of("reader")).toHaveLength(10)

      // the order of two senders is not defined
      const messages = received(entries).toSorted((a, b) => a.from.localeCompare(b.from))
      expect(messages).toMatchObject([
        { id: "agent-2#1", content: "Which part comes first?" },
        { id: "agent-4#1", content: "I begin only now." },
      ])
      expect(received(await agentJournalOf(agent, "agent-2"))).toMatchObject([
        { id: "lead#1", from: "lead", content: "Begin with the parser." },
      ])
      expect(received(await agentJournalOf(agent, "agent-4"))).toMatchObject([
        { id: "lead#2", from: "lead", content: "Report when you begin." },
      ])

      const boundary = entries.findIndex(isBoundaryEntry)
      const status = entries
        .slice(boundary)
        .find((entry) => isMessage(entry) && entry.type === "attachment" && entry.attachment.type === "agent_status")
      expect(status).toMatchObject({ attachment: { agents: ids.map((id) => ({ id, summary: "some work" })) } })
      expect(await fileStore({ root: where.dir }).list(projectName(where.cwd))).toHaveLength(1)
      expect(
        (await fileStore({ root: where.dir }).list(projectName(where.cwd), { under: agent.conversation.id }))
          .map(({ id }) => id)
          .sort(),
      ).toEqual(ids)
    },
  )

  test("L7-4 after a crash: an agent that was running is listed as killed, and a result that was not delivered arrives once", async () => {
    const release = Promise.withResolvers<void>()
    const where = project()
    const image = join(where.dir, "..", "image")
    const { sim } = await castSimulator({
      lead: [
        calls(agentCall("[done] Work.", BACKGROUND), agentCall("[running] Work.", BACKGROUND)),
        async () => {
          release.resolve()
          const [first] = agent.team.list()
          await agent.team.get(first!.id)!.done
          await agent.team.stop(first!.id) // resolves when its end is in the journal
          copyDisk(where.dir, image)
          return "I wait."
        },
        "Done.",
      ],
      done: [
        async () => {
          await release.promise
          return "All of it is done."
        },
      ],
      running: [() => new Promise(() => undefined)],
    })
    const agent = await leadFor(sim, { ...where, id: "crash" })
    expect((await ask(agent, "Go.")).end).toMatchObject({ reason: "answer" })

    const again = await castSimulator({ lead: ["I see.", "Still here."] })
    const resume = () => leadFor(again.sim, { cwd: where.cwd, dir: image, id: "crash", mustExist: true })
    const resumed = await resume()
    expect(resumed.team.list()).toMatchObject([
      { id: "agent-1", status: "completed" },
      { id: "agent-2", status: "killed", summary: "The program ended while it was working." },
    ])
    expect(resumed.team.inbound.hasAny).toBe(true)
    await ask(resumed, undefined)
    expect(results(await journalOf(resumed))).toMatchObject([
      { id: "agent-1", status: "completed", content: "All of it is done." },
      { id: "agent-2", status: "killed", content: "The program ended while it was working." },
    ])
    await resumed.close()
    const third = await resume()
    expect(third.team.inbound.hasAny).toBe(false)
    await ask(third, "Anything new?")
    expect(results(await journalOf(third))).toHaveLength(2)
    expect(decisions(await journalOf(third), "agent-started")).toHaveLength(2)
  })

  test.runIf(isWhole)(
    "L7-4 after a crash: what an agent spent is in the ledger, also where the process died before the lead's journal had it",
    async () => {
      const where = project({ "a.ts": "bug" })
      const image = join(where.dir, "..", "image")
      const hanging = [0, 1].map(() => Promise.withResolvers<void>())
      const hang = (at: number) => () => {
        hanging[at]!.resolve()
        return new Promise<never>(() => undefined)
      }
      const { sim } = await castSimulator({
        lead: [
          calls(agentCall("[worker] Work.", BACKGROUND), agentCall("[copy] Work.", { fork: true })),
          async () => {
            await Promise.all(hanging.map(({ promise }) => promise))
            copyDisk(where.dir, image)
            return "I wait."
          },
        ],
        worker: [calls(["Read", { file_path: "a.ts" }]), calls(["Read", { file_path: "a.ts" }]), hang(0)],
        copy: [calls(["Read", { file_path: "a.ts" }]), hang(1)],
      })
      const agent = await leadFor(sim, { ...where, id: "crash" })
      expect((await ask(agent, "Go.")).end).toMatchObject({ text: "I wait." })
      const { agents, dollars } = agent.conversation.ledger()
      expect(agents).toMatchObject([{ requests: 2 }, { requests: 1 }])

      // of three usage lines, only the first reached the disk
      const journal = agent.conversation.location.replace(where.dir, image)
      let kept = 0
      const lines = readFileSync(journal, "utf8").split("\n")
      const left = lines.filter((line) => !line.includes('"subtype":"spent"') || kept++ === 0)
      expect(lines.length - left.length).toBe(2)
      writeFileSync(journal, left.join("\n"))

      const again = await castSimulator({ lead: ["I see."] })
      const resume = () => leadFor(again.sim, { cwd: where.cwd, dir: image, id: "crash", mustExist: true })
      const resumed = await resume()
      // answered requests, and those in flight: the lead's second request and one of each agent
      const spent = () =>
        Object.groupBy(decisions(entries, "spent"), ({ estimated }) => (estimated ? "sent" : "answered"))
      let entries = await journalOf(resumed)
      expect(spent()).toMatchObject({ answered: { length: 3 }, sent: { length: 3 } })
      expect(resumed.conversation.ledger().agents).toMatchObject(
        agents.map(({ id, requests }) => ({ id, requests: requests + 1, status: "killed" })),
      )
      expect(resumed.conversation.ledger().dollars).toBeGreaterThan(dollars)
      await resumed.close()
      entries = await journalOf(await resume())
      expect(spent()).toMatchObject({ answered: { length: 3 }, sent: { length: 3 } })
    },
  )

  test.runIf(isWhole)(
    `L7-4 output ${ROUNDS / 6} times the window: the parent grows by no more than the budget, and all of it can be recalled`,
    async () => {
      const report = `${"A finding worth a line of its own. ".repeat(1_500)}The end.`
      const { sim } = await castSimulator({
        lead: [calls(agentCall("[talker] Read everything.")), "Read."],
        talker: [...Array.from({ length: ROUNDS }, (_, at) => saying(8_400 - 2 * at)), report],
      })
      const agent = await leadFor(sim, { settings: { models: SMALL.models } })
      let before = 0
      await ask(agent, "Go.", {
        watch: (event) => {
          if (event.type === "tool-start") before = engineOf(agent.conversation).views.context.size().tokens
        },
      })
      const { agents } = agent.conversation.ledger()
      expect(agents[0]!.requests).toBeGreaterThan(ROUNDS)
      const budget = engineOf(agent.conversation).flags.figures["agent-result-limit"]
      expect(engineOf(agent.conversation).views.context.size().tokens - before).toBeLessThan(budget + 500)

      const handle = /All of it: (\S+)/.exec(
        JSON.stringify(engineOf(agent.conversation).views.context.messages().messages),
      )![1]!
      expect(readFileSync(handle.replace(/\\n.*/s, ""), "utf8")).toBe(report)
      const journal = await engineOf(agent.conversation).openAgentJournal("agent-1")
      let tokens = 0
      for await (const entry of journal.entries()) {
        if (!isMessage(entry) || (entry.type !== "user" && entry.type !== "assistant")) continue
        for (const [at, block] of contentOf(entry).entries()) {
          tokens += engineOf(agent.conversation).views.estimator.text(JSON.stringify(block))
          expect(await agent.conversation.recall(`agent-1/${entry.uuid}.${at}`)).toEqual(block)
        }
      }
      await journal.close()
      expect(tokens).toBeGreaterThan(ROUNDS * 10_000)
    },
  )
})
