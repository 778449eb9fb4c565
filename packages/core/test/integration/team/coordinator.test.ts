import { cpSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { projectName } from "../../../src/base/ids.ts"
import { isBoundaryEntry, isMessage } from "../../../src/journal/entries.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { contentOf } from "../../../src/messages/messages.ts"
import { ask, calls, project } from "../agent/agents.ts"
import { saying } from "../layers/conversations.ts"
import { agentCall, castSimulator, decisions, journalOf, leadFor, results } from "./cast.ts"

const MODEL = "claude-opus-5-5"
const BACKGROUND = { run_in_background: true }
const SMALL = { models: { [MODEL]: { window: 60_000 } }, switches: { "clear-by-size": false } }

describe("a coordinator with agents in the background", () => {
  test("L7-4 L7-9 four workers, one killed, one compacting, the coordinator compacting: none starts twice, every result arrives once", async () => {
    const compacted = Promise.withResolvers<void>()
    const { sim, of } = await castSimulator({
      lead: [
        calls(...["fixer", "reader", "stuck", "late"].map((name) => agentCall(`[${name}] Work.`, BACKGROUND))),
        ...Array.from({ length: 7 }, () => saying(8_000)),
        ...Array.from({ length: 8 }, () => "I wait for the others."),
      ],
      fixer: [
        calls(["Read", { file_path: "a.ts" }]),
        calls(["Edit", { file_path: "a.ts", old_string: "bug", new_string: "fix" }]),
        "The fixer is done.",
      ],
      reader: [...Array.from({ length: 7 }, () => saying(8_000)), "The reader is done."],
      stuck: [() => new Promise(() => undefined)],
      late: [
        async () => {
          await compacted.promise
          return "The late one is done."
        },
      ],
    })
    const where = project({ "a.ts": "bug" })
    const agent = await leadFor(sim, { ...where, autonomous: true, settings: SMALL })
    const { end } = await ask(agent, "Coordinate four workers.", {
      watch: async (event) => {
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
    expect(of("reader")).toHaveLength(8)

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
  })

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
          cpSync(where.dir, image, { recursive: true, filter: (path) => !path.endsWith(".lock") })
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
    await ask(agent, "Go.")

    const again = await castSimulator({ lead: ["I see.", "Still here."] })
    const resume = () => leadFor(again.sim, { cwd: where.cwd, dir: image, id: "crash", mustExist: true })
    const resumed = await resume()
    expect(resumed.team.list()).toMatchObject([
      { id: "agent-1", status: "completed" },
      { id: "agent-2", status: "killed", summary: "The program ended while it was working." },
    ])
    expect(resumed.team.arrivals.hasAny).toBe(true)
    await ask(resumed, undefined)
    expect(results(await journalOf(resumed))).toMatchObject([
      { id: "agent-1", status: "completed", content: "All of it is done." },
      { id: "agent-2", status: "killed", content: "The program ended while it was working." },
    ])
    await resumed.close()
    const third = await resume()
    expect(third.team.arrivals.hasAny).toBe(false)
    await ask(third, "Anything new?")
    expect(results(await journalOf(third))).toHaveLength(2)
    expect(decisions(await journalOf(third), "agent-started")).toHaveLength(2)
  })

  test("L7-4 output ten times the window: the parent grows by no more than the budget, and all of it can be recalled", async () => {
    const report = `${"A finding worth a line of its own. ".repeat(1_500)}The end.`
    const { sim } = await castSimulator({
      lead: [calls(agentCall("[talker] Read everything.")), "Read."],
      talker: [...Array.from({ length: 60 }, (_, at) => saying(8_000 - 2 * at)), report],
    })
    const agent = await leadFor(sim, { settings: { models: SMALL.models } })
    let before = 0
    await ask(agent, "Go.", {
      watch: (event) => {
        if (event.type === "tool-start") before = agent.conversation.views.context.size().tokens
      },
    })
    const { agents } = agent.conversation.ledger()
    expect(agents[0]!.requests).toBeGreaterThanOrEqual(61)
    const budget = agent.conversation.flags.figures["agent-result-limit"]
    expect(agent.conversation.views.context.size().tokens - before).toBeLessThan(budget + 500)

    const handle = /All of it: (\S+)/.exec(JSON.stringify(agent.conversation.views.context.messages().messages))![1]!
    expect(readFileSync(handle.replace(/\\n.*/s, ""), "utf8")).toBe(report)
    const journal = await agent.conversation.openAgentJournal("agent-1")
    let tokens = 0
    for await (const entry of journal.entries()) {
      if (!isMessage(entry) || (entry.type !== "user" && entry.type !== "assistant")) continue
      for (const [at, block] of contentOf(entry).entries()) {
        tokens += agent.conversation.views.estimator.text(JSON.stringify(block))
        expect(await agent.conversation.recall(`agent-1/${entry.uuid}.${at}`)).toEqual(block)
      }
    }
    await journal.close()
    expect(tokens).toBeGreaterThan(10 * 60_000)
  })
})
