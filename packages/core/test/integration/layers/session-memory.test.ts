import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import type { Answer, ResponderRequest, ResponderTurn } from "../../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../../sim/src/responders/extractive.ts"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { projectName } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { isForked } from "../../../src/forks/fork.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { journalPaths, memoryDirectory, notesConfigDirectory } from "../../../src/journal/file/layout.ts"
import type { Store } from "../../../src/journal/store.ts"
import { defaultText, isBareTemplate, parseNotes } from "../../../src/layers/3-session-memory/notes.ts"
import { type SessionMemory, sessionMemory } from "../../../src/layers/3-session-memory/session-memory.ts"
import type { Layer } from "../../../src/layers/layer.ts"
import { read } from "../../../src/tools/files/read.ts"
import { summarise } from "../../../src/views/ledger/ledger.ts"
import { isWhole, size } from "../../size.ts"
import { ask, calls, ofType, project } from "../agent/agents.ts"
import { cachedAfter, layeredAgent, resultsIn, rounds, saying, usagesOf, say as words } from "./conversations.ts"

type ForkAnswer = (turn: ResponderTurn) => Answer | string | undefined | Promise<Answer | string | undefined>

interface Setup extends Partial<SingleAgentOptions> {
  readonly script: readonly ScriptedTurn[]
  /** The answer to a fork. `undefined` leaves it to the responder that takes notes. */
  readonly onFork?: ForkAnswer
  readonly where?: { cwd: string; dir: string }
}

/** An agent that takes notes, and a responder that writes them. The script continues only when no update is running. */
async function notetaking({ script, onFork, where = project(), ...options }: Setup) {
  const forks: ResponderRequest[] = []
  const responder = scriptedResponder(script)
  let memory: SessionMemory | undefined
  const sim = await simulator({
    responder: {
      name: "notetaking",
      async answer(turn) {
        if (!isForked(turn.request.messages as never)) {
          await memory?.draft.runningUpdate?.done
          return responder.answer(turn)
        }
        forks.push(turn.request)
        const given = (await onFork?.(turn)) ?? extractiveAnswer(turn) ?? "Nothing to note."
        return typeof given === "string" ? { content: [{ type: "text", text: given }] } : given
      },
    },
  })
  const agent = await layeredAgent(sim, {
    ...where,
    makeLayers: ({ notesConfig, ...parent }) => {
      memory = sessionMemory({
        ...parent,
        ...(notesConfig === undefined ? {} : { configDirectory: notesConfig }),
        ...(parent.memory ? { daily: parent.memory.daily } : {}),
      })
      return [memory]
    },
    ...options,
    settings: {
      planner: "off", // notes at their own thresholds, not only near a compaction
      ...options.settings,
      figures: { "background-share": 100, ...options.settings?.figures }, // the budget is not tested here
    },
  })
  const sizes: number[] = []
  agent.conversation.on("recorded", () => sizes.push(engineOf(agent.conversation).views.context.size().tokens))
  const { notes } = journalPaths(where.dir, { project: projectName(where.cwd), id: agent.conversation.id })
  return { sim, agent, forks, sizes, notes, memory: () => memory! }
}

async function decisions<S extends "notes-updated" | "spent">(agent: Agent, subtype: S) {
  const found = []
  for await (const entry of agent.conversation.entries())
    if (entry.type === "strata" && entry.subtype === subtype) found.push(entry as Extract<typeof entry, { subtype: S }>)
  return found
}

/** A file store without space for the result of the first update. */
function failingAtFirstNotes(root: string): Store {
  const store = fileStore({ root, flush: "never" })
  let isFull = true
  return {
    ...store,
    async open(address, options) {
      const journal = await store.open(address, options)
      const append = journal.append.bind(journal)
      journal.append = async (entries) => {
        const isRefused =
          isFull && entries.some((entry) => entry.type === "strata" && entry.subtype === "notes-updated")
        if (isRefused) isFull = false
        return isRefused ? Promise.reject(new Error("the disk is full")) : append(entries)
      }
      return journal
    },
  }
}

async function firstOf(agent: Agent): Promise<string> {
  for await (const entry of agent.conversation.entries()) if (entry.type === "user") return entry.uuid
  throw new Error("no one has said anything")
}

const go = async (agent: Agent, prompt = "Always use tabs. Look around the project.") => {
  const outcome = await ask(agent, prompt)
  await agent.conversation.whenIdle()
  return outcome
}

const section = (path: string, title: string) =>
  parseNotes(readFileSync(path, "utf8")).sections.find((each) => each.title === title)!

describe("layer 3 from end to end", () => {
  test("L3-1, L3-3 notes begin at 10,000 tokens and are updated each time the context has grown by 5,000", async () => {
    const { agent, sizes, notes, sim } = await notetaking({ script: rounds(15, 2_000) })
    const { end, events } = await go(agent)
    expect(end.reason).toBe("answer")
    const taken = (await decisions(agent, "notes-updated")).map(({ contextTokens }) => contextTokens)
    expect(taken[0]).toBe(sizes.find((size) => size >= 10_000))
    expect(taken.length).toBeGreaterThan(3)
    for (const [i, size] of taken.entries()) if (i > 0) expect(size - taken[i - 1]!).toBeGreaterThanOrEqual(5_000)
    const own = parseNotes(defaultText("template.md")).sections
    const written = parseNotes(readFileSync(notes, "utf8")).sections
    expect(written.map(({ head }) => head)).toEqual(own.map(({ head }) => head))
    expect(section(notes, "Task specification").body).toContain("Look around the project.")
    expect(ofType(events, "notice")).toContainEqual(expect.objectContaining({ quiet: true }))
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
  })

  test("L5-9 notes cost no more than their share: after the first update they wait for the conversation, and say so once", async () => {
    const { agent, forks } = await notetaking({
      script: rounds(7, 4_000),
      settings: { figures: { "background-share": 5 } },
    })
    const { events } = await ask(agent, "go")
    await agent.conversation.whenIdle()
    const updates = await decisions(agent, "notes-updated")
    expect(updates).toHaveLength(1)
    expect(forks.length).toBeGreaterThan(0)
    const messages = events.flatMap((event) =>
      event.type === "compaction" && event.progress.phase === "message" ? event.progress.message : [],
    )
    expect(messages).toEqual([
      expect.stringMatching(/^The notes are not updated now: they have taken \d+%.*the limit is 8%/),
    ])
  })

  test("L5-9 notes count into the daily limit of memory work; it stops them, and they say so once", async () => {
    const where = project()
    const { agent } = await notetaking({
      where,
      script: rounds(7, 4_000),
      settings: { figures: { "memory-daily-limit": 0.000001 } },
    })
    const { events } = await ask(agent, "go")
    await agent.conversation.whenIdle()
    expect(await decisions(agent, "notes-updated")).toHaveLength(1)
    const messages = events.flatMap((event) =>
      event.type === "compaction" && event.progress.phase === "message" ? event.progress.message : [],
    )
    expect(messages).toEqual([
      expect.stringMatching(/^No notes now: .* \$0\.\d\d today, and the limit is \$0\.000001 a day/),
    ])
    const sum = readFileSync(join(memoryDirectory(where.dir, projectName(where.cwd)), ".spent.json"), "utf8")
    expect(JSON.parse(sum).dollars).toBeGreaterThan(0)
  })

  test.runIf(isWhole)(
    "L3-3 growth alone is not enough while the model calls tools: it takes three calls, or a turn without any",
    async () => {
      const settings = { figures: { "notes-tool-calls": 6 } }
      const { agent, sizes } = await notetaking({ script: rounds(6, 8_000), settings })
      await go(agent)
      const taken = (await decisions(agent, "notes-updated")).map(({ contextTokens }) => contextTokens)
      expect(taken[0]).toBe(sizes.find((size) => size >= 10_000))
      expect(sizes.indexOf(taken[1]!) - sizes.indexOf(taken[0]!)).toBe(5) // six calls, including that of the turn before
      expect(taken.at(-1)).toBe(sizes.at(-1)) // the answer has no call
    },
  )

  test.runIf(isWhole)("L3-6 the position is the last complete message, and the cost is in the journal", async () => {
    const settings = { figures: { "notes-growth": 10 } }
    const { agent } = await notetaking({ script: rounds(12, 1_000), settings })
    await go(agent)
    const updates = await decisions(agent, "notes-updated")
    const messages = engineOf(agent.conversation).views.context.storedMessages()
    const at = messages.findIndex(({ uuid }) => uuid === updates[0]!.throughUuid)
    expect(messages[at]!.type).toBe("user") // results: the turn after them was calling tools
    expect(messages[at + 1]!.type).toBe("assistant")
    expect(updates.at(-1)!.throughUuid).toBe(messages.at(-1)!.uuid) // the final answer has no open calls
    expect(engineOf(agent.conversation).views.notes.throughUuid).toBe(updates.at(-1)!.throughUuid)
    const spent = await decisions(agent, "spent")
    expect(spent.length).toBeGreaterThanOrEqual(updates.length)
    expect(new Set(spent.map(({ purpose }) => purpose))).toEqual(new Set(["notes"]))
    expect(summarise(engineOf(agent.conversation).views.ledger).requests).toBe(13 + spent.length)
  })

  test.runIf(isWhole)(
    "L7-1 the fork reads at least nine tenths of its input from the cache, and the next request misses nothing",
    async () => {
      const { agent, forks } = await notetaking({
        script: [...rounds(24, 4_000), "More."],
        settings: { figures: { "notes-start": 80_000, "notes-growth": 100_000 } },
      })
      await go(agent)
      const usages = (await decisions(agent, "spent")).map(({ usage }) => usage)
      expect(usages).toHaveLength(forks.length)
      const read = usages.reduce((sum, usage) => sum + (usage.cache_read_input_tokens ?? 0), 0)
      const all = usages.reduce(
        (sum, usage) => sum + usage.input_tokens + (usage.cache_creation_input_tokens ?? 0),
        read,
      )
      expect(forks.length).toBeGreaterThan(0)
      expect(read / all).toBeGreaterThan(0.9)
      await go(agent, "And?")
      const [before, last] = usagesOf(agent).slice(-2)
      expect(last!.cache_read_input_tokens).toBe(cachedAfter(before!))
    },
  )

  test("L3-4 it may edit that one file and nothing else: every other call is refused with a reason", async () => {
    const where = project({ "code.ts": "one\n" })
    const refused: string[] = []
    const { agent, notes } = await notetaking({
      where,
      script: rounds(5, 2_000),
      onFork: (turn) => {
        const results = turn.request.messages.at(-1)!.content.filter(({ type }) => type === "tool_result")
        if (refused.length === 0 && results.every(({ content }) => !String(content).startsWith("Not allowed"))) {
          const others = calls(
            ["Edit", { file_path: join(where.cwd, "code.ts"), old_string: "one", new_string: "two" }],
            ["Bash", { command: `echo x > ${join(where.cwd, "made")}` }],
            ["Read", { file_path: join(where.cwd, "code.ts") }],
            ["Grep", { words: 10 }],
          ) as (turn: ResponderTurn) => Answer
          return others(turn)
        }
        refused.push(...resultsIn(turn.request).filter((text) => text.startsWith("Not allowed")))
        return "I could not."
      },
    })
    await go(agent)
    expect(refused).toHaveLength(4)
    expect(refused[0]).toContain(`only Edit and Read of ${notes} are allowed`)
    expect(readdirSync(where.cwd)).toEqual(["code.ts"])
    expect(readFileSync(join(where.cwd, "code.ts"), "utf8")).toBe("one\n")
    expect(readFileSync(notes, "utf8")).toBe(defaultText("template.md"))
    expect(await decisions(agent, "notes-updated")).toEqual([]) // nothing was noted, so nothing is recorded
    expect((await decisions(agent, "spent")).length).toBeGreaterThan(0)
    expect(engineOf(agent.conversation).views.artifacts.files.has(notes)).toBe(false)
  })

  /** Thirty rounds pass during the first update. Then it ends, with an answer of this many tokens. */
  async function slowFirstUpdate({ share, answer }: { share: number; answer: string }) {
    const gate = Promise.withResolvers<void>()
    let open = 0
    let max = 0
    const firstFork = Promise.withResolvers<void>()
    const forks: ResponderRequest[] = []
    const script = scriptedResponder(rounds(15, 2_000))
    const sim = await simulator({
      responder: {
        name: "slow notes",
        async answer(turn) {
          if (!isForked(turn.request.messages as never)) return script.answer(turn)
          forks.push(turn.request)
          max = Math.max(max, ++open)
          firstFork.resolve()
          await gate.promise
          open--
          return { content: [{ type: "text", text: answer }] }
        },
      },
    })
    const agent = await layeredAgent(sim, {
      makeLayers: (surroundings) => [sessionMemory(surroundings)],
      settings: { planner: "off", figures: { "background-share": share } },
    })
    await ask(agent, "go")
    await firstFork.promise
    expect(forks).toHaveLength(1)
    gate.resolve()
    await agent.conversation.whenIdle()
    expect(max).toBe(1)
    return { agent, forks }
  }

  test.runIf(isWhole)(
    "L3-4 updates never overlap: one that becomes due waits, and starts with the newest state",
    async () => {
      const { agent, forks } = await slowFirstUpdate({ share: 100, answer: "Nothing to note." })
      expect(forks).toHaveLength(2)
      expect(resultsIn(forks[1]!)).toHaveLength(15)
      const [, second] = await decisions(agent, "notes-updated")
      expect(second!.throughUuid).toBe(engineOf(agent.conversation).views.context.newest!.uuid)
    },
  )

  test.runIf(isWhole)(
    "L3-4 the layers after it see an update as soon as it begins, so none of them does the same work",
    async () => {
      const seen: boolean[] = []
      const { agent, sizes } = await notetaking({
        script: rounds(15, 2_000),
        makeLayers: (surroundings) => {
          const memory = sessionMemory(surroundings)
          const looking: Layer = {
            name: "looking",
            async afterResponse() {
              seen.push(memory.draft.runningUpdate !== undefined)
              return undefined
            },
          }
          return [memory, looking]
        },
      })
      await go(agent)
      const first = sizes.findIndex((size) => size >= 10_000)
      expect(seen.slice(0, first + 1)).toEqual([...Array(first).fill(false), true])
    },
  )

  test.runIf(isWhole)(
    "L5-9 an update that waited is checked against the budget after the first one is paid",
    async () => {
      const { agent, forks } = await slowFirstUpdate({
        share: 1,
        answer: `Nothing to note. ${"And so on. ".repeat(2_000)}`,
      })
      expect(forks).toHaveLength(1)
      expect(await decisions(agent, "notes-updated")).toHaveLength(1)
    },
  )

  test.runIf(isWhole)("L3-7 what the owner writes manually stays, and the next update sees it", async () => {
    const { agent, notes, forks } = await notetaking({ script: [...rounds(5, 2_000), ...rounds(8, 1_000)] })
    await go(agent)
    const mine = "The customer is called Ada; never mention the price.\n"
    const text = readFileSync(notes, "utf8")
    writeFileSync(notes, text.replace(/(# Learnings\n_.*_\n)/, `$1${mine}`))
    const seen = forks.length
    await go(agent, "Look again.")
    expect(forks.length).toBeGreaterThan(seen)
    expect(JSON.stringify(forks[seen]!.messages.at(-1))).toContain("never mention the price")
    expect(section(notes, "Learnings").body).toContain(mine.trim())
  })

  test("L3-7 a manual edit during an update is not lost: the fork's Edit fails, it reads again and continues", async () => {
    let edited = false
    const { agent, notes } = await notetaking({
      script: rounds(5, 2_000),
      onFork: () => {
        if (!edited) writeFileSync(notes, `By hand.\n\n${readFileSync(notes, "utf8")}`)
        edited = true
        return undefined
      },
    })
    await go(agent)
    const text = readFileSync(notes, "utf8")
    expect(text.startsWith("By hand.\n")).toBe(true)
    expect(isBareTemplate(text.slice("By hand.\n".length))).toBe(false)
    expect((await decisions(agent, "notes-updated")).length).toBeGreaterThan(0)
  })

  test.each(size([], [false, true]))(
    "L3-7, JRN-5 after a rewind an update continues from the notes of that branch; an edit by hand (%s) is respected",
    async (byHand) => {
      const script = [...rounds(5, 2_000), ...rounds(8, 1_000), ...rounds(5, 2_000)]
      const { agent, notes, forks } = await notetaking({ script })
      await go(agent)
      const first = readFileSync(notes, "utf8")
      const back = engineOf(agent.conversation).views.context.newest!.uuid
      await go(agent, "Never speak of the branch that was left.")
      expect(readFileSync(notes, "utf8")).toContain("the branch that was left")
      if (byHand) writeFileSync(notes, `By hand.\n\n${readFileSync(notes, "utf8")}`)
      await agent.conversation.rewind(back)
      const seen = forks.length
      await go(agent, "Look again.")
      expect(forks.length).toBeGreaterThan(seen)
      const directive = String(forks[seen]!.messages.at(-1)!.content.at(-1)!.text)
      expect(directive.includes("By hand.")).toBe(byHand)
      expect(directive.includes("the branch that was left")).toBe(byHand)
      if (!byHand) expect(directive).toContain(first.trim())
      expect(readFileSync(notes, "utf8").includes("the branch that was left")).toBe(byHand)
    },
  )

  test("L3-7, JRN-5 an update that ends after a rewind belongs to the abandoned branch", async () => {
    const script = scriptedResponder(rounds(5, 2_000))
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const sim = await simulator({
      responder: {
        name: "slow notes",
        async answer(turn) {
          if (!isForked(turn.request.messages as never)) return script.answer(turn)
          asked.resolve()
          await gate.promise
          return extractiveAnswer(turn)!
        },
      },
    })
    const where = project()
    const settings = { figures: { "background-share": 100 } }
    const open = () =>
      layeredAgent(sim, { ...where, id: "went-back", makeLayers: (parent) => [sessionMemory(parent)], settings })
    const agent = await open()
    await ask(agent, "Never speak of the branch that was left.")
    await asked.promise
    await agent.conversation.rewind(await firstOf(agent))
    gate.resolve()
    await agent.conversation.whenIdle()
    const [{ kept } = {}] = await decisions(agent, "notes-updated")
    expect(kept).toBeDefined()
    expect(engineOf(agent.conversation).views.notes).toEqual({ inFile: { kept } })
    await agent.conversation.close()
    const again = await open()
    expect(engineOf(again.conversation).views.notes).toEqual({ inFile: { kept } })
  })

  test("L3-2 the user's own template and prompt replace ours", async () => {
    const where = project()
    const config = notesConfigDirectory(where.dir)
    mkdirSync(config, { recursive: true })
    writeFileSync(join(config, "template.md"), "# Current State\n_now_\n\n# Goal\n_what for_\n\n# Steps\n_log_\n")
    writeFileSync(
      join(config, "prompt.md"),
      "Please keep my session notes in {{path}}, {{unknown}}:\n<mine>\n{{notes}}\n</mine>\n$& stays.",
    )
    const { agent, notes, forks } = await notetaking({ where, script: rounds(5, 2_000) })
    await go(agent)
    const directive = forks[0]!.messages.at(-1)!.content.at(-1)!.text!
    expect(directive).toContain(
      `Please keep my session notes in ${notes}, {{unknown}}:\n<mine>\n# Current State\n_now_`,
    )
    expect(directive).toContain("$& stays.")
    expect(directive).not.toContain("take over the work")
    expect(parseNotes(readFileSync(notes, "utf8")).sections.map(({ title }) => title)).toEqual([
      "Current State",
      "Goal",
      "Steps",
    ])
    expect(section(notes, "Steps").body).toContain("Grep")
  })

  test.runIf(isWhole)(
    "L3-5 the next prompt names sections that are too large; over the total limit it is urgent",
    async () => {
      const { agent, notes, forks } = await notetaking({
        script: [...rounds(5, 2_000), ...rounds(6, 1_000), ...rounds(6, 1_000)],
      })
      const directiveOf = (request: ResponderRequest) =>
        request.messages.findLast(({ role }) => role === "user")!.content.at(-1)!.text!
      await go(agent)
      expect(directiveOf(forks[0]!)).not.toContain("Condense")
      const grow = (title: string, count: number) => {
        const text = readFileSync(notes, "utf8")
        writeFileSync(
          notes,
          text.replace(new RegExp(`(# ${title}\n_.*_\n)`), `$1${"A sentence about it.\n".repeat(count)}`),
        )
      }
      grow("Learnings", 700)
      let seen = forks.length
      await go(agent, "more")
      expect(directiveOf(forks[seen]!)).toMatch(/Condense these sections[\s\S]*"Learnings": about \d,\d+ tokens/)
      for (const title of ["Learnings", "Workflow", "Codebase and System Documentation"]) grow(title, 1_000)
      seen = forks.length
      await go(agent, "and more")
      expect(directiveOf(forks[seen]!)).toContain("URGENT: the notes have about")
    },
  )

  test("an update that is killed leaves the file whole", async () => {
    const asked = Promise.withResolvers<void>()
    const { agent, notes, memory } = await notetaking({
      script: rounds(5, 2_000),
      onFork: async () => {
        asked.resolve()
        return new Promise(() => undefined) // the request never gets an answer
      },
    })
    const working = ask(agent, "go")
    await asked.promise
    expect(memory().draft.runningUpdate).toBeDefined()
    await agent.close()
    await working
    const text = readFileSync(notes, "utf8")
    expect(parseNotes(text).sections.map(({ head }) => head)).toEqual(
      parseNotes(defaultText("template.md")).sections.map(({ head }) => head),
    )
    expect(readdirSync(dirname(notes))).toEqual([`${agent.conversation.id}.md`])
    expect(memory().draft.runningUpdate).toBeUndefined()
  })

  test("L4-5 after waiting for an update, its position is in the views", async () => {
    const positions: unknown[] = []
    const { agent, memory } = await notetaking({
      script: rounds(5, 2_000),
      onFork: () => {
        void memory().draft.runningUpdate?.done.then(() =>
          positions.push(engineOf(agent.conversation).views.notes.throughUuid, memory().draft.runningUpdate),
        )
        return "Nothing to note."
      },
    })
    await go(agent)
    expect(positions).toEqual([engineOf(agent.conversation).views.notes.throughUuid, undefined])
    expect(positions[0]).toBeDefined()
  })

  test.runIf(isWhole)(
    "after a resume it continues from the position in the journal: no update until the context has grown",
    async () => {
      const where = project()
      const first = await notetaking({ where, script: rounds(5, 2_000) })
      await go(first.agent)
      const { id } = first.agent.conversation
      await first.agent.close()
      const second = await notetaking({ where, id, script: [saying(500), "Done.", ...rounds(6, 1_000)] })
      expect(engineOf(second.agent.conversation).views.notes.throughUuid).toBeDefined()
      await go(second.agent, "a little more")
      expect(second.forks).toHaveLength(0)
      await go(second.agent, "much more")
      expect(second.forks.length).toBeGreaterThan(0)
    },
  )

  test("a failed update is reported once, costs nothing more until the context has grown, and the work continues", async () => {
    const { agent, forks } = await notetaking({
      script: rounds(7, 2_000),
      onFork: () => ({ content: [{ type: "text", text: "no" }], stopReason: "refusal" }),
    })
    const { end } = await go(agent)
    expect(end.reason).toBe("answer")
    expect(await decisions(agent, "notes-updated")).toEqual([])
    expect(forks.length).toBeGreaterThan(0)
    expect(forks.length).toBeLessThanOrEqual(2)
  })

  test.runIf(isWhole)("L3-4 an update that cannot be journaled is reported and does not block later ones", async () => {
    const where = project()
    const { agent } = await notetaking({ script: rounds(15, 2_000), where, store: failingAtFirstNotes(where.dir) })
    const failures: string[] = []
    agent.conversation.on("layerFailed", ({ layer, reason }) => failures.push(`${layer}: ${reason}`))
    await go(agent)
    expect(failures).toEqual(["session-memory: the disk is full"])
    expect((await decisions(agent, "notes-updated")).length).toBeGreaterThan(1)
  })

  test("L3-4 a link in place of the file is refused with a clear message, and nothing is written through it", async () => {
    const where = project({ "victim.md": "keep me" })
    const { agent, notes, forks } = await notetaking({ where, script: rounds(5, 2_000) })
    mkdirSync(dirname(notes), { recursive: true })
    symlinkSync(join(where.cwd, "victim.md"), notes)
    const { events } = await go(agent)
    expect(ofType(events, "notice").map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^session-memory: No notes were taken: .* is a symbolic link\. Nothing was written/),
    )
    expect(forks).toEqual([])
    expect(readFileSync(join(where.cwd, "victim.md"), "utf8")).toBe("keep me")
  })

  test("FLG-1 with the switch off nothing happens", async () => {
    const off = await notetaking({ script: rounds(6, 2_000), settings: { switches: { notes: false } } })
    await go(off.agent)
    expect(off.forks).toEqual([])
    expect(existsSync(off.notes)).toBe(false)
  })

  test.each([
    ["no Edit tool", [read, words]],
    ["another tool named Edit", [read, words, { ...words, name: "Edit" }]],
  ])("L3-4 with %s the fork answers with text, and the notes are written from it", async (_, tools) => {
    const { agent, forks, notes } = await notetaking({ script: rounds(6, 2_000), tools })
    const failures: string[] = []
    agent.conversation.on("layerFailed", ({ reason }) => failures.push(reason))
    await go(agent)
    expect(failures).toEqual([])
    expect(JSON.stringify(forks[0]!.messages.at(-1))).toContain("between <new_notes> and </new_notes>")
    expect((await decisions(agent, "notes-updated")).length).toBeGreaterThan(0)
    expect(section(notes, "Task specification").body).toContain("Look around the project.")
  })
})
