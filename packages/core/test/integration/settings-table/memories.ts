/** Probes of layers 3, 5 and 6: notes, memories, dreams. */

import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileTools } from "../../../src/agent/tools/coding-tools.ts"
import { manualClock, projectName } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { memoryDirectory } from "../../../src/journal/file/layout.ts"
import type { Layer } from "../../../src/layers/layer.ts"
import type { SettingsInput } from "../../../src/settings/settings.ts"
import type { Tool } from "../../../src/tools/tool.ts"
import { openCompacting } from "../../compacting.ts"
import { memoryText } from "../../dreams.ts"
import { fixedNotes } from "../../fixed-notes.ts"
import { summariser } from "../../summariser.ts"
import { scratchDirectory } from "../../tool-context.ts"
import {
  ask,
  calling,
  decisions,
  MINUTE,
  mergeSettings,
  type OpenScene,
  type SceneOptions,
  scene,
  textOf,
  words,
  work,
} from "./scenes.ts"
import type { Probes } from "./table.ts"

const ALL = { "background-share": 100 } // the share has a probe of its own
const NOTES: SceneOptions = { onDisk: true, base: { switches: { notes: true }, figures: ALL } }
const large: Tool = {
  name: "Echo",
  description: "says much",
  inputSchema: { type: "object" },
  execute: () => words(5_200),
}

/** How often the notes are updated in a conversation of 12,000 tokens, followed by a query with three calls of 6,000 tokens each. */
const updates =
  (see: (opened: OpenScene) => unknown = ({ of }) => of("notes").length, options: SceneOptions = NOTES) =>
  async (settings: SettingsInput) => {
    const opened = await scene(settings, {
      ...options,
      tools: [large, ...fileTools],
      responder: {
        work: (_, nth) => (nth < 3 ? calling("Echo", { nth }) : "Done."),
        notes: (request) => {
          const text = textOf(request)
          const path = /[^\s"'`<>]*session-memory\/[\w-]+\.md/.exec(text)?.[0]
          if (text.includes("toolu_notes_") || path === undefined) return "The notes are up to date."
          const old_string = "# Current State\n"
          const input = { file_path: path, old_string, new_string: `${old_string}${words(2_500)}\n` }
          return [{ type: "tool_use", id: `toolu_notes_${++edits}`, name: "Edit", input }]
        },
        ...options.responder,
      },
    })
    await work(opened.chat, { rounds: 5, tokens: 2_000, tool: "Look" })
    for await (const event of opened.agent.query("Go on.")) if (event.type === "response") await opened.chat.whenIdle()
    await opened.chat.whenIdle()
    return see(opened)
  }
let edits = 0

const reminded = (words: string) => updates(({ of }) => textOf(of("notes").at(-1)!).includes(words))

/** Notes that cover everything up to the newest message but four. */
const noted: Layer = {
  name: "notes",
  async beforeRequest({ views }) {
    const message = views.context.storedMessages().at(-5)
    if (!message || views.notes.throughUuid !== undefined) return undefined
    const taken = { throughUuid: message.uuid, path: "notes.md", tokens: 10, contextTokens: 10 }
    return { drafts: [{ type: "strata", subtype: "notes-updated", ...taken }] }
  },
}

/** Messages in the tail of a compaction from notes, and how long it waits for a notes update. */
const fromNotes =
  (see: "route" | "kept" | "waited", tokens = 1_000) =>
  async (settings: SettingsInput) => {
    const waited: number[] = []
    const chat = await openCompacting({
      ...{ summariser: summariser(), window: 100_000, earlier: [noted], settings: { planner: "off", ...settings } },
      compaction: {
        timing: { every: () => () => undefined, wait: async (ms) => void waited.push(ms) },
        notes: fixedNotes(
          () => "# Current State\nThe parser is being repaired.",
          new Date(manualClock().now().getTime() - MINUTE / 2),
        ),
      },
    })
    await work(chat, { rounds: Math.ceil(58_000 / tokens), tokens, tool: "Look" })
    await chat.prepare()
    const [made] = await decisions(chat, "compacted")
    if (see === "waited") return waited
    return see === "route"
      ? made?.route
      : textOf(await engineOf(chat).preparer.forkRequest()).split('"tool_result"').length - 1
  }

const MEMORY: SceneOptions = { onDisk: true, base: { memory: "auto", switches: { dreaming: false }, figures: ALL } }

/** Requests for memories after these messages. */
const extracted =
  (messages: readonly string[], { done, ...options }: SceneOptions & { done?: Parameters<typeof work>[1] } = MEMORY) =>
  async (settings: SettingsInput) => {
    const opened = await scene(settings, options)
    if (done) await work(opened.chat, done)
    for (const message of messages) {
      await ask(opened, message)
      await opened.chat.whenIdle()
    }
    return opened.of("memory").length
  }
const WORTH_REMEMBERING = ["I am a designer, and I prefer tabs."]

/** Memories that a later conversation of the project receives for a matching message. */
const recalled =
  (see: (sent: string) => unknown, more: SettingsInput = {}) =>
  async (settings: SettingsInput) => {
    const cwd = scratchDirectory()
    const directory = memoryDirectory(join(cwd, "home"), projectName(cwd))
    mkdirSync(directory, { recursive: true })
    const body = `The parser of invoices breaks on empty lines. ${"It was written for the ledger of invoices. ".repeat(60)}`
    for (const at of [1, 2, 3])
      writeFileSync(join(directory, `parser-${at}.md`), memoryText(`Parser ${at}`, `${body} number-${at}`))
    writeFileSync(
      join(directory, "MEMORY.md"),
      [1, 2, 3].map((at) => `- [Parser ${at}](parser-${at}.md): About Parser ${at}`).join("\n"),
    )
    const { chat } = await scene(mergeSettings(more, settings), { ...MEMORY, cwd })
    await chat.add("Why does the parser of invoices break on empty lines?")
    return see(textOf(await chat.prepare()))
  }
const attached = (sent: string) => sent.split("breaks on empty lines").length - 1

interface Dreams {
  readonly others?: number
  readonly hoursAgo?: number
  /** Minutes after which to ask again, with one more conversation. */
  readonly againAfter?: number
}

/** Turns that the first request of a dream allows; 0 if there is no dream. */
const dreamed =
  ({ others = 5, hoursAgo, againAfter }: Dreams = {}) =>
  async (settings: SettingsInput) => {
    const cwd = scratchDirectory()
    const directory = memoryDirectory(join(cwd, "home"), projectName(cwd))
    mkdirSync(directory, { recursive: true })
    // a word in common: only a reader can tell whether one is out of date
    writeFileSync(join(directory, "port.md"), memoryText("Port", "The gateway listens on port 80."))
    writeFileSync(join(directory, "host.md"), memoryText("Host", "Bergen hosts our gateway."))
    const base: SettingsInput = { memory: "auto", switches: { "auto-memory": false }, figures: ALL }
    const opened = await scene(settings, { onDisk: true, base, cwd, tools: fileTools })
    const now = opened.clock.now()
    const touch = (name: string, time = now) => {
      writeFileSync(name, "")
      utimesSync(name, time, time)
    }
    for (let at = 0; at < others; at++) touch(join(dirname(directory), `other-${at}.jsonl`))
    if (hoursAgo !== undefined)
      touch(join(directory, ".consolidate-lock"), new Date(now.getTime() - hoursAgo * 60 * MINUTE))
    await ask(opened, "Hello.")
    await opened.chat.whenIdle()
    if (againAfter !== undefined) {
      opened.clock.advance(againAfter * MINUTE)
      touch(join(dirname(directory), "one-more.jsonl"), opened.clock.now())
      await ask(opened, "Hello again.")
      await opened.chat.whenIdle()
    }
    const [first] = opened.of("dream")
    return Number(/at most (\d+) turns/.exec(first ? textOf(first) : "")?.[1] ?? 0)
  }

const updated = updates()
const dreamedUsually = dreamed()
const recalledFiles = recalled(attached)
const keptFromNotes = fromNotes("kept")
const extractedOnce = extracted(WORTH_REMEMBERING)

export const MEMORY_SWITCHES: Probes = {
  notes: { observe: updated, usual: 3, changed: 0 },
  "compact-from-notes": { observe: fromNotes("route"), usual: "notes", changed: "shared" },
  "auto-memory": { observe: extractedOnce, usual: 1, changed: 0 },
  "memory-recall": { observe: recalledFiles, usual: 3, changed: 0 },
  dreaming: { observe: dreamedUsually, usual: 30, changed: 0 },
}

export const MEMORY_FIGURES: Probes = {
  "notes-start": { observe: updated, turned: 500_000, usual: 3, changed: 0 },
  "notes-growth": { observe: updated, turned: 500_000, usual: 3, changed: 1 },
  "notes-tool-calls": { observe: updated, turned: 1, usual: 3, changed: 5 },
  "notes-section-limit": { observe: reminded("Condense these sections"), turned: 50_000, usual: true, changed: false },
  "notes-limit": { observe: reminded("URGENT"), turned: 1_000, usual: false, changed: true },
  "background-share": {
    observe: extracted([...WORTH_REMEMBERING, ...WORTH_REMEMBERING, ...WORTH_REMEMBERING], {
      ...MEMORY,
      base: { memory: "auto", switches: { dreaming: false } },
      done: { rounds: 100, tokens: 400, tool: "Look" }, // expensive enough for one extraction
    }),
    turned: 100,
    usual: 1,
    changed: 3,
  },
  "memory-daily-limit": { observe: extractedOnce, turned: 0, usual: 1, changed: 0 },
  "memory-turns": {
    observe: extracted(WORTH_REMEMBERING, {
      ...MEMORY,
      tools: fileTools,
      responder: { memory: (_, nth) => calling("Read", { file_path: `note-${nth}.md` }) },
    }),
    turned: 2,
    usual: 5,
    changed: 2,
  },
  "memory-start": {
    observe: recalled((sent) => sent.includes("parser-2.md"), { figures: { "memory-recall-files": 0 } }),
    turned: 0,
    usual: true,
    changed: false,
  },
  "memory-recall-files": { observe: recalledFiles, turned: 1, usual: 3, changed: 1 },
  "memory-recall-limit": {
    observe: recalled((sent) => Math.round(sent.length / 1_000)),
    turned: 50,
    usual: 9,
    changed: 2,
  },
  "dream-interval": { observe: dreamed({ hoursAgo: 30 }), turned: 48, usual: 30, changed: 0 },
  "dream-check-interval": { observe: dreamed({ others: 4, againAfter: 5 }), turned: 1, usual: 0, changed: 30 },
  "dream-conversations": { observe: dreamedUsually, turned: 9, usual: 30, changed: 0 },
  "dream-turns": { observe: dreamedUsually, turned: 4, usual: 30, changed: 4 },
  "tail-min": { observe: keptFromNotes, turned: 30_000, usual: 5, changed: 9 },
  "tail-max": { observe: fromNotes("kept", 5_000), turned: 100_000, usual: 2, changed: 5 },
  "keep-messages": { observe: keptFromNotes, turned: 20, usual: 5, changed: 11 },
  "notes-wait": { observe: fromNotes("waited"), turned: 3, usual: [15_000], changed: [3_000] },
  "notes-wait-age": { observe: fromNotes("waited"), turned: 10, usual: [15_000], changed: [] },
}
