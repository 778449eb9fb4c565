/** Notes in your own loop: your client, your tools, no Edit tool of Strata. The fork answers with text. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import type { Answer, ResponderRequest, ResponderTurn } from "../../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../../sim/src/responders/extractive.ts"
import { client, simulator } from "../../../../sim/test/simulator.ts"
import { tappedStore } from "../../../../store-contract/src/tapped-store.ts"
import { type Conversation, engineOf } from "../../../src/conversation/conversation.ts"
import type { ConversationOptions } from "../../../src/conversation/options.ts"
import { isForked } from "../../../src/forks/fork.ts"
import { anthropicModel, openConversation } from "../../../src/index.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { journalPaths, notesConfigDirectory } from "../../../src/journal/file/layout.ts"
import { defaultText, parseNotes } from "../../../src/layers/3-session-memory/notes.ts"
import { isWhole } from "../../size.ts"
import { project } from "../agent/agents.ts"
import { resultsIn } from "./conversations.ts"

const MODEL = "claude-opus-5-5"
const LOG = { name: "Log", description: "Shows a log.", input_schema: { type: "object" as const } }
const TEXT = "request 7 took 42 ms on port 4001; ".repeat(200) // about 2,000 tokens

type OnFork = (turn: ResponderTurn) => Answer | string | undefined | Promise<Answer | string | undefined>

interface Setup extends Partial<ConversationOptions> {
  /** The answer to a fork. `undefined` leaves it to the responder that takes notes. */
  readonly onFork?: OnFork
  readonly where?: { readonly cwd: string; readonly dir: string }
}

/** A loop whose model calls Log on every turn. */
async function ownLoop({ onFork, where = project(), ...options }: Setup = {}) {
  const forks: ResponderRequest[] = []
  const bodies: { fork: boolean; body: ResponderRequest }[] = []
  const sim = await simulator({
    responder: {
      name: "own loop",
      async answer(turn) {
        const fork = isForked(turn.request.messages as never)
        bodies.push({ fork, body: turn.request })
        if (!fork) return { content: [{ type: "tool_use", id: turn.nextToolUseId(), name: "Log", input: {} }] }
        forks.push(turn.request)
        const given = (await onFork?.(turn)) ?? extractiveAnswer(turn)!
        return typeof given === "string" ? { content: [{ type: "text", text: given }] } : given
      },
    },
  })
  const sdk = client(sim)
  const settings = { ...options.settings, figures: { "background-share": 100, ...options.settings?.figures } }
  const chat = await openConversation({
    model: MODEL,
    client: sdk,
    system: "You look at logs.",
    tools: [LOG],
    env: {},
    ...where,
    ...options,
    settings,
  })
  const failures: string[] = []
  chat.on("layerFailed", ({ layer, reason }) => failures.push(`${layer}: ${reason}`))
  const { notes } = journalPaths(where.dir, { project: engineOf(chat).namespace, id: chat.id })

  async function turn(): Promise<void> {
    const { content, usage, id, model, stop_reason } = await sdk.messages.stream(await chat.prepare()).finalMessage()
    await chat.record({ content, usage, id, model, stop_reason })
    const [call] = content
    if (call?.type !== "tool_use") throw new Error("no call")
    await chat.add([{ type: "tool_result", tool_use_id: call.id, content: TEXT }])
  }
  async function turns(count: number): Promise<void> {
    for (let done = 0; done < count; done++) {
      await turn()
      await chat.whenIdle()
    }
  }
  await chat.add("Always use tabs. Find the slow request.")
  return { sim, chat, turn, turns, forks, bodies, failures, notes }
}

async function decisions(chat: Conversation, subtype: string) {
  const found = []
  for await (const entry of chat.entries())
    if (entry.type === "strata" && entry.subtype === subtype) found.push(entry as unknown as Record<string, never>)
  return found
}

const section = (path: string, title: string) =>
  parseNotes(readFileSync(path, "utf8")).sections.find((each) => each.title === title)!.body

describe("notes in a loop of your own", () => {
  test("L3-1, L3-3, L3-4 they are taken in the background, from text, in the sections of the template", async () => {
    const { chat, turns, forks, notes, failures, sim } = await ownLoop()
    await turns(10)
    const updates = await decisions(chat, "notes-updated")
    expect(updates.length).toBeGreaterThan(1)
    expect(updates[0]!.contextTokens).toBeGreaterThanOrEqual(10_000)
    expect(forks).toHaveLength(updates.length) // one request each
    expect(parseNotes(readFileSync(notes, "utf8")).sections.map(({ head }) => head)).toEqual(
      parseNotes(defaultText("template.md")).sections.map(({ head }) => head),
    )
    expect(section(notes, "Task specification")).toContain("Find the slow request.")
    expect(await decisions(chat, "spent")).toHaveLength(updates.length)
    expect(engineOf(chat).views.notes.throughUuid).toBe(updates.at(-1)!.throughUuid)
    expect(readdirSync(dirname(notes))).toEqual([`${chat.id}.md`])
    expect(failures).toEqual([])
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
    await chat.close()
  })

  test("L3-1 quotes with headings, fences and tags of their own stay inside their section", async () => {
    const quoted = "Quote me:\n# Not a section\n```\nnever closed\n</new_notes>"
    const { chat, turns, forks, notes, failures } = await ownLoop({
      onFork: () => `<new_notes>\n# Task specification\n- verbatim:\n~~~\n${quoted}\n~~~\n</new_notes>`,
    })
    await chat.add(quoted)
    while (forks.length < 2) await turns(1)
    expect(failures).toEqual([])
    expect(section(notes, "Task specification")).toContain(quoted)
    expect(parseNotes(readFileSync(notes, "utf8")).sections).toHaveLength(10)
    await chat.close()
  })

  test("L7-1 the fork sends the bytes of your request and reads them from the cache; your next request misses nothing", async () => {
    const { chat, turns, bodies } = await ownLoop({ settings: { figures: { "notes-start": 30_000 } } })
    await turns(16)
    const at = bodies.findIndex(({ fork }) => fork)
    const [parent, fork] = [bodies[at - 1]!.body, bodies[at]!.body]
    expect(fork.system).toEqual(parent.system)
    expect(fork.tools).toEqual(parent.tools)
    const bytes = ({ messages }: ResponderRequest) => messages.map((message) => JSON.stringify(message))
    expect(bytes(fork).slice(0, parent.messages.length)).toEqual(bytes(parent))
    const [{ usage }] = (await decisions(chat, "spent")) as unknown as [{ usage: Record<string, number> }]
    const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: wrote = 0, input_tokens: rest = 0 } = usage
    expect(read / (read + wrote + rest)).toBeGreaterThan(0.85)
    expect(wrote).toBe(0)
    expect(chat.cacheHistory().breaks).toEqual([])
    await chat.close()
  })

  test("L4-5 a compaction uses them as the summary: no model is asked for one", async () => {
    const { chat, turns, bodies, failures } = await ownLoop({
      settings: {
        models: { [MODEL]: { window: 60_000 } },
        figures: { "tail-max": 10_000, "tail-min": 2_000 },
      },
    })
    for (let turn = 0; turn < 40 && engineOf(chat).views.compactions.count === 0; turn++) await turns(1)
    expect(engineOf(chat).views.compactions.count).toBe(1)
    const [compacted] = await decisions(chat, "compacted")
    expect(compacted).toMatchObject({ route: "notes" })
    expect(bodies.filter(({ fork }) => fork).length).toBe((await decisions(chat, "notes-updated")).length)
    expect(JSON.stringify((await chat.prepare()).messages[0])).toContain("Find the slow request.")
    expect(failures).toEqual([])
    await chat.close()
  })

  test.runIf(isWhole)("a malformed answer changes nothing and is reported once, until another one is", async () => {
    const answers = ["I would rather not.", "I would rather not.", "<new_notes>\n# Price\n- 5\n</new_notes>"]
    const { chat, turns, forks, notes, failures } = await ownLoop({ onFork: () => answers.shift() })
    while (forks.length < 3) await turns(1)
    expect(readFileSync(notes, "utf8")).toBe(defaultText("template.md"))
    expect(await decisions(chat, "notes-updated")).toEqual([])
    expect(await decisions(chat, "spent")).toHaveLength(3)
    expect(failures).toEqual([
      expect.stringMatching(/^session-memory: The notes were not updated: the answer has no notes between/),
      expect.stringMatching(/has a section that the notes do not have: "Price"\. They are unchanged\./),
    ])
    while (forks.length < 4) await turns(1)
    expect(await decisions(chat, "notes-updated")).toHaveLength(1)
    await chat.close()
  })

  test("L3-4 a tool call is refused with a sentence, and the answer after it counts", async () => {
    let isFirst = true
    const { chat, turns, forks, notes } = await ownLoop({
      onFork: (turn) => {
        if (!isFirst) return undefined
        isFirst = false
        return { content: [{ type: "tool_use", id: turn.nextToolUseId(), name: "Log", input: {} }] }
      },
    })
    while (forks.length < 2) await turns(1)
    expect(resultsIn(forks[1]!).at(-1)).toBe(
      "Not allowed: No tools are available while notes are taken. Answer with the new notes as text.",
    )
    expect(section(notes, "Task specification")).toContain("Find the slow request.")
    expect(await decisions(chat, "spent")).toHaveLength(2)
    await chat.close()
  })

  test.runIf(isWhole)(
    "closing during an update ends it at once: the file is whole and nothing is reported",
    async () => {
      const asked = Promise.withResolvers<void>()
      const { chat, turn, notes, failures } = await ownLoop({
        onFork: async () => {
          asked.resolve()
          return new Promise(() => undefined) // never answers
        },
      })
      let isAsked = false
      void asked.promise.then(() => {
        isAsked = true
      })
      while (!isAsked) await turn()
      await chat.close()
      expect(readFileSync(notes, "utf8")).toBe(defaultText("template.md"))
      expect(readdirSync(dirname(notes))).toEqual([`${chat.id}.md`])
      expect(failures).toEqual([])
    },
  )

  test("L3-7 a manual edit during an update stays; in a section that the fork changes too, it wins", async () => {
    let hand = (text: string) => `By hand.\n\n${text}`
    let written: string | undefined
    const { chat, turns, forks, notes, failures } = await ownLoop({
      onFork: () => {
        writeFileSync(notes, hand(readFileSync(notes, "utf8")))
        return written
      },
    })
    while (forks.length < 1) await turns(1)
    expect(readFileSync(notes, "utf8")).toMatch(/^By hand\.\n\n# Session Title/)
    expect(section(notes, "Task specification")).toContain("Find the slow request.")
    expect(failures).toEqual([])
    hand = (text) => text.replace(/(# Current State\n_.*_\n)/, "$1Mine.\n").replace(/(# Worklog\n_.*_\n)/, "$1Mine.\n")
    written = "<new_notes>\n# Current State\nReads logs.\n\n# Worklog\n- Read a log.\n</new_notes>"
    while (forks.length < 2) await turns(1)
    expect(section(notes, "Worklog")).toMatch(/^Mine\.\n/)
    expect(failures).toEqual([expect.stringContaining("was changed in the meantime")])
    await chat.close()
  })

  test("L3-7 a manual edit between the last look and the writing stays, and the update says why it was given up", async () => {
    const where = project()
    let isRaced = true
    const store = tappedStore(fileStore({ root: where.dir }), async ({ name, run }) => {
      if (name === "journal.writeNotes" && isRaced && existsSync(notes)) writeFileSync(notes, "Mine alone.\n")
      return run()
    })
    const { chat, turns, forks, notes, failures } = await ownLoop({ where, store })
    while (forks.length < 1) await turns(1)
    expect(readFileSync(notes, "utf8")).toBe("Mine alone.\n")
    expect(failures).toEqual([expect.stringContaining("someone changed them in the same moment")])
    expect(await decisions(chat, "notes-updated")).toEqual([])
    isRaced = false
    while (forks.length < 2) await turns(1)
    expect(readFileSync(notes, "utf8")).toContain("Mine alone.\n")
    await chat.close()
  })

  test("L3-4 a link in place of the file is refused, also one that appears during the update", async () => {
    const where = project({ "victim.md": "keep me" })
    const { chat, turns, forks, notes, failures } = await ownLoop({
      where,
      onFork: () => {
        rmSync(notes)
        symlinkSync(join(where.cwd, "victim.md"), notes)
        return undefined
      },
    })
    while (failures.length === 0) await turns(1)
    await turns(4) // the next update is refused before a request is sent, for the same reason
    expect(failures).toEqual([
      expect.stringMatching(/No notes were taken: .* is a symbolic link\. Nothing was written/),
    ])
    expect(forks).toHaveLength(1)
    expect(readFileSync(join(where.cwd, "victim.md"), "utf8")).toBe("keep me")
    await chat.close()
  })

  test("L3-2 a prompt of the user's own gets the instructions for text after it", async () => {
    const where = project()
    const config = notesConfigDirectory(where.dir)
    mkdirSync(config, { recursive: true })
    writeFileSync(join(config, "template.md"), "# Goal\n_what for_\n\n# Files\n_which_\n\n# Steps\n_log_\n")
    writeFileSync(join(config, "prompt.md"), "Please keep my session notes in {{path}}:\n<mine>\n{{notes}}\n</mine>")
    const { chat, turns, forks, notes } = await ownLoop({ where })
    while (forks.length < 1) await turns(1)
    const directive = forks[0]!.messages.at(-1)!.content.at(-1)!.text!
    expect(directive).toContain(`Please keep my session notes in ${notes}:\n<mine>\n# Goal`)
    expect(directive).toContain("between <new_notes> and </new_notes>")
    expect(section(notes, "Goal")).toContain("Find the slow request.")
    await chat.close()
  })

  test.runIf(isWhole)("FLG-1 with the switch off nothing happens; a model without a key is reported once", async () => {
    const off = await ownLoop({ settings: { switches: { notes: false } } })
    await off.turns(8)
    expect(off.forks).toEqual([])
    expect(existsSync(off.notes)).toBe(false)
    await off.chat.close()
    await using chat = await openConversation({
      model: anthropicModel({ model: MODEL, env: {} }),
      settings: { planner: "off" }, // so that notes begin at once
      ...project(),
    })
    const failures: string[] = []
    chat.on("layerFailed", ({ reason }) => failures.push(reason))
    for (let turn = 0; turn < 12; turn++) {
      await chat.add(`Question ${turn}`)
      await chat.record({ content: [{ type: "text", text: TEXT }] })
      await chat.whenIdle()
    }
    expect(failures).toEqual([expect.stringMatching(/^There is no key for Anthropic/)])
  })

  test("BEY-6 with only a model's name and no key, notes are quoted from the conversation, and cost nothing", async () => {
    const where = project()
    await using chat = await openConversation({ model: MODEL, id: "keyless", env: {}, ...where })
    const failures: string[] = []
    chat.on("layerFailed", ({ reason }) => failures.push(reason))
    for (let turn = 0; turn < 12; turn++) {
      await chat.add(`Question ${turn}`)
      await chat.record({ content: [{ type: "text", text: TEXT }] })
      await chat.whenIdle()
    }
    expect(failures).toEqual([])
    const notes = readFileSync(
      journalPaths(where.dir, { project: engineOf(chat).namespace, id: "keyless" }).notes,
      "utf8",
    )
    expect(notes).toContain("These notes are extractive: quoted from the conversation, no model wrote them.")
    expect(notes).toContain("Question 0")
    const { byModel } = chat.ledger()
    expect(byModel).toContainEqual(expect.objectContaining({ model: "strata-offline", dollars: 0 }))
  })
})
