/** Probes of layers 1 and 2, and folds: the handling of tool results and old exchanges. */
import type { SettingsInput } from "../../../src/settings/settings.ts"
import type { Tool } from "../../../src/tools/tool.ts"
import {
  clearedIn,
  decisions,
  MINUTE,
  PLAIN,
  round,
  type SceneOptions,
  says,
  scene,
  textOf,
  words,
  work,
} from "./scenes.ts"
import type { Probes } from "./table.ts"

/** How many results of one round are offloaded. */
const putAside = (characters: readonly number[]) => async (settings: SettingsInput) => {
  const { chat } = await scene(settings)
  await chat.add("Go.")
  await round(
    chat,
    "Bash",
    characters.map((length) => "many words\n".repeat(length / 11)),
  )
  return textOf(await chat.prepare()).split("<persisted-output>").length - 1
}

/** Thousands of characters of a large result that are sent. */
const preview = async (settings: SettingsInput) => {
  const { chat } = await scene(settings)
  await chat.add("Go.")
  await round(chat, "Bash", ["many words\n".repeat(6_000)])
  return Math.floor(textOf(await chat.prepare()).length / 1_000)
}

interface Clearing extends SceneOptions {
  readonly idleMinutes?: number
  readonly work?: Parameters<typeof work>[1]
}

/** How many results are cleared in the next request. */
const cleared =
  ({ idleMinutes = 0, work: done = {}, ...options }: Clearing) =>
  async (settings: SettingsInput) => {
    const { chat, clock } = await scene(settings, options)
    await work(chat, done)
    clock.advance(idleMinutes * MINUTE)
    return clearedIn(await chat.prepare())
  }

const PAUSED: Clearing = { idleMinutes: 61 }

/** Results that fill most of a window, on a server without its own clearing, with a cache that is about to expire. */
const FULL: Clearing = {
  base: { models: { [PLAIN]: { window: 100_000, accepts: { contextManagement: false } } } },
  work: { rounds: 14, tokens: 4_000 },
}

/** The same, but the server has just read nearly all of it from its cache. */
const WARM: Clearing = {
  ...FULL,
  work: { ...FULL.work, usage: { input_tokens: 10, cache_read_input_tokens: 50_000 } },
}

const EDITS: SceneOptions = {
  base: { models: { [PLAIN]: { accepts: { cacheEditing: true, contextManagement: false } } } },
}

/** How many results are deleted in the server's cache. */
const deleted = async (settings: SettingsInput) => {
  const { chat } = await scene(settings, EDITS)
  await work(chat, { rounds: 14 })
  await chat.prepare()
  const [decision] = await decisions(chat, "tool-results-cleared")
  return decision?.toolUseIds.length ?? 0
}

const bash = {
  name: "Bash",
  description: "runs",
  inputSchema: { type: "object" },
  execute: async () => ({ content: "done" }),
} as unknown as Tool

/** The input size at which the server clears, and the minimum that it clears. */
const askedOfServer = async (settings: SettingsInput) => {
  const { chat } = await scene(settings, { name: "claude-opus-5-5", tools: [bash] })
  await chat.add("Go.")
  const request = (await chat.prepare()) as { context_management?: { edits: Record<string, { value: number }>[] } }
  const edit = request.context_management?.edits.find(({ type }) => String(type).startsWith("clear_tool_uses"))
  return edit && [edit.trigger!.value, edit.clear_at_least!.value]
}

/** Whether a finished exchange can be hidden, and the reason if not. */
const hides = (action: "fold" | "snip") => async (settings: SettingsInput) => {
  const { chat } = await scene(settings)
  const from = await chat.add(`A task. ${words(400)}`)
  await chat.record({
    ...{ id: "msg_hidden", model: PLAIN, stop_reason: "end_turn", usage: { input_tokens: 900, output_tokens: 5 } },
    content: [{ type: "text", text: "Done." }],
  })
  await chat.add("And now?")
  return chat[action]({ from, dryRun: true }).then(
    ({ ranges }) => ranges.length,
    (error: Error) => error.message,
  )
}

/** Additional tools that the agent is offered. */
const offersSnip = async (settings: SettingsInput) => {
  const { chat } = await scene(settings)
  await chat.add("Go.")
  return (await chat.prepare()).tools?.some((tool) => "name" in tool && tool.name === "Snip") ?? false
}

const clearedAfterPause = cleared(PAUSED)
const clearedBySize = cleared(FULL)
const putAsideOne = putAside([60_000])

export const RESULT_SETTINGS: Probes = {
  off: { observe: putAsideOne, turned: true, usual: 1, changed: 0 },
  disableMicrocompact: { observe: clearedAfterPause, turned: true, usual: 3, changed: 0 },
  toolResultLimits: { observe: putAsideOne, turned: { Bash: 70_000 }, usual: 1, changed: 0 },
  clearableTools: {
    observe: cleared({ ...PAUSED, work: { tool: "fetch_log" } }),
    turned: ["fetch_log"],
    usual: 0,
    changed: 3,
  },
}

export const RESULT_SWITCHES: Probes = {
  "tool-result-storage": { observe: putAsideOne, usual: 1, changed: 0 },
  "clear-by-time": { observe: clearedAfterPause, usual: 3, changed: 0 },
  "clear-by-cache-edit": { observe: deleted, usual: 9, changed: 0 },
  "clear-by-api": { observe: askedOfServer, usual: [180_000, 140_000], changed: undefined },
  "clear-by-size": { observe: clearedBySize, usual: 7, changed: 0 },
  fold: { observe: hides("fold"), usual: 1, changed: says('"fold" is off') },
  snip: { observe: hides("snip"), usual: 1, changed: says('"snip" is off') },
  "snip-tool": { observe: offersSnip, usual: false, changed: true },
}

export const RESULT_FIGURES: Probes = {
  "tool-result-limit": { observe: putAsideOne, turned: 70_000, usual: 1, changed: 0 },
  "tool-result-preview": { observe: preview, turned: 9_000, usual: 3, changed: 13 },
  "message-results-limit": { observe: putAside([45_000, 45_000, 45_000]), turned: 100_000, usual: 0, changed: 1 },
  "idle-gap": { observe: clearedAfterPause, turned: 90, usual: 3, changed: 0 },
  "idle-keep": { observe: clearedAfterPause, turned: 2, usual: 3, changed: 6 },
  "cache-edit-active": { observe: deleted, turned: 15, usual: 9, changed: 0 },
  "cache-edit-keep": { observe: deleted, turned: 9, usual: 9, changed: 5 },
  "api-clear-trigger": { observe: askedOfServer, turned: 90_000, usual: [180_000, 140_000], changed: [90_000, 50_000] },
  "api-clear-keep": { observe: askedOfServer, turned: 60_000, usual: [180_000, 140_000], changed: [180_000, 120_000] },
  "size-clear-keep": { observe: clearedBySize, turned: 30_000, usual: 7, changed: 9 },
  "size-clear-min": { observe: clearedBySize, turned: 50_000, usual: 7, changed: 0 },
  "size-clear-protect": { observe: clearedBySize, turned: 9, usual: 7, changed: 5 },
  "expected-turns": { observe: cleared(WARM), turned: 5, usual: 7, changed: 0 },
}
