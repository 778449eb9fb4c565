/** Probes of layer 4: when and by which route the conversation is compacted, its tail, and restored content. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileTools } from "../../../src/agent/tools/coding-tools.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import type { Attachment } from "../../../src/messages/attachments.ts"
import { type Block, isToolResult } from "../../../src/messages/blocks.ts"
import type { ModelRequest } from "../../../src/messages/request.ts"
import { PromptTooLongError } from "../../../src/model/errors.ts"
import type { SettingsInput } from "../../../src/settings/settings.ts"
import {
  ask,
  decisions,
  type OpenScene,
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

/** A window that is full after the rounds of `work`. */
const SMALL: SettingsInput = {
  models: { [PLAIN]: { window: 60_000, accepts: { contextManagement: false } } },
  switches: { notes: false, "clear-by-size": false, "compact-ahead": false },
}
const AHEAD: SettingsInput = { ...SMALL, switches: { notes: true, "clear-by-size": false } }

interface Compacting extends SceneOptions {
  readonly work?: Parameters<typeof work>[1]
  readonly see: (opened: OpenScene, sent: string) => unknown
}

/** A full window, observed after the next request. */
const full =
  ({ see, work: done, ...options }: Compacting) =>
  async (settings: SettingsInput) => {
    const opened = await scene(settings, { base: SMALL, ...options })
    await work(opened.chat, { rounds: 5, tokens: 4_700, tool: "Look", ...done })
    const sent = textOf(await opened.chat.prepare())
    await opened.chat.whenIdle()
    return see(opened, sent)
  }

const count = ({ chat }: OpenScene) => engineOf(chat).views.compactions.count
const thresholds = (name: string) => async (settings: SettingsInput) => {
  const { chat } = await scene(settings, { name })
  return chat.thresholds.autoCompact
}

/** A manual compaction in a large window. */
const byHand =
  ({ see, work: done, ...options }: Compacting) =>
  async (settings: SettingsInput) => {
    const opened = await scene(settings, options)
    await work(opened.chat, { rounds: 8, tokens: 2_000, tool: "Look", ...done })
    const failed = await opened.chat.compact().then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (failed !== undefined) return failed
    return see(opened, textOf(await opened.chat.prepare()))
  }

const routes = async ({ chat }: OpenScene) => (await decisions(chat, "compacted")).map(({ route }) => route)
const thousands = (length: number) => Math.round(length / 1_000)
const LONG_SUMMARY = `<summary>\n${[1, 2, 3, 4, 5, 6].map((at) => `${at}. Section ${at}:\n${words(900)}\n`).join("\n")}</summary>`
/** Invented claims about files, in addition to the real request. */
const INVENTED = `<summary>\n1. Primary Request and Intent:\nRepair the parser, several words at a time.\n2. Files:\n${Array.from({ length: 30 }, (_, at) => `- src/invented-${at}/file${at}.ts was rewritten, port ${9000 + at}`).join("\n")}\n</summary>`
/** Every request for a summary is refused, without a limit in the error. */
const TOO_LONG = { summary: () => new PromptTooLongError({}, { provider: "test" }) }
const keptResults = (sent: string) =>
  (JSON.parse(sent) as ModelRequest["messages"])
    .flatMap(({ content }) => content as Block[])
    .filter(isToolResult)
    .map(({ content }) => content as string)
const lastAsked = ({ of }: OpenScene) => JSON.stringify(of("summary").at(-1))

/** Many user requests in a full window, compacted without a model. Thousands of characters: of the summary, and of the entire request. */
const talk = async (settings: SettingsInput) => {
  const { chat } = await scene(settings, { base: SMALL, responder: { summary: () => "" } })
  for (let at = 0; at < 30; at++) {
    await chat.add(`Please check module-${at}.ts and say what it exports in version ${at}.2. ${words(800)}`)
    await chat.record({
      ...{ id: `msg_off_${at}`, model: PLAIN, stop_reason: "end_turn" },
      content: [
        {
          type: "text",
          text: `I decided that module-${at}.ts exports function${at}, because caller-${at}.ts needs it. ${words(320)}`,
        },
      ],
      usage: { input_tokens: engineOf(chat).views.context.size().tokens, output_tokens: 5 },
    })
  }
  await chat.add("And now?")
  const sent = await chat.prepare()
  const summary = engineOf(chat)
    .views.context.storedMessages()
    .find((message) => "isCompactSummary" in message)
  return { summary: thousands(JSON.stringify(summary ?? "").length), sent: thousands(textOf(sent).length) }
}

/** How often a summary is requested that names none of the files and ports, if nothing else does. */
const named = async (settings: SettingsInput) => {
  const { chat, of } = await scene(settings, {
    base: { switches: { "compact-facts": false } },
    responder: {
      summary: () => "<summary>\n1. Primary Request and Intent:\nModules were changed to listen.\n</summary>",
    },
  })
  for (let at = 0; at < 12; at++) {
    await chat.add(
      `Please change src/module-${at}.ts so that it listens on port ${4000 + at}. Never touch src/legacy-${at}.ts.`,
    )
    await round(chat, "Bash", [`Error: src/module-${at}.ts failed with code E${at}00\n${words(400)}`])
  }
  await chat.compact()
  return of("summary").length
}

/** Whether a request that the server refuses as too long is answered in the end. */
const refusedOnce = async (settings: SettingsInput) => {
  const opened = await scene(settings, {
    responder: { work: (_, nth) => (nth === 0 ? new PromptTooLongError({}, { provider: "test" }) : "Fine.") },
  })
  await work(opened.chat, { rounds: 6, tokens: 2_000, tool: "Look" })
  const events = await ask(opened, "And?")
  return events.findLast((event) => event.type === "done")?.reason
}

export const COMPACTION_SETTINGS: Probes = {
  disableCompact: { observe: byHand({ see: count }), turned: true, usual: 1, changed: says("switched off") },
  disableAutoCompact: { observe: full({ see: count }), turned: true, usual: 1, changed: 0 },
  autoCompactEnabled: { observe: full({ see: count }), turned: false, usual: 1, changed: 0 },
  autoCompactPercent: { observe: thresholds(PLAIN), turned: 50, usual: 967_000, changed: 490_000 },
  autoCompactTokens: { observe: thresholds(PLAIN), turned: 80_000, usual: 967_000, changed: 80_000 },
  contextWindow: { observe: thresholds("local-model"), turned: 100_000, usual: 155_000, changed: 55_000 },
  compactInstructions: {
    observe: byHand({ see: (opened) => lastAsked(opened).includes("Name every port.") }),
    turned: "Name every port.",
    usual: false,
    changed: true,
  },
}

export const COMPACTION_SWITCHES: Probes = {
  "compact-facts": {
    observe: byHand({ see: (_, sent) => sent.includes("## What the user said") }),
    usual: true,
    changed: false,
  },
  "compact-offline": {
    observe: full({ see: routes, responder: { summary: () => "" } }),
    usual: ["offline"],
    changed: [],
  },
  "compact-reactive": { observe: refusedOnce, usual: "answer", changed: "error" },
  // without notes, there is still space after the threshold
  "compact-ahead": {
    observe: full({ base: AHEAD, responder: { notes: () => "Not now." }, see: count }),
    usual: 0,
    changed: 1,
  },
  "compact-audit": {
    observe: byHand({ see: ({ of }) => of("summary").length > 1, responder: { summary: () => INVENTED } }),
    usual: true,
    changed: false,
  },
}

/** Files that the agent has read, restored after a compaction. */
const restored = (see: Compacting["see"]) => async (settings: SettingsInput) => {
  const names = Array.from({ length: 8 }, (_, at) => `file-${at}.txt`)
  const turns = [
    ...names.map((name, at) => [
      { type: "tool_use", id: `toolu_read_${at}`, name: "Read", input: { file_path: name } },
    ]),
  ]
  const opened = await scene(settings, {
    tools: fileTools,
    responder: { work: (_, nth) => turns[nth] ?? "Read." },
  })
  for (const name of names) writeFileSync(join(opened.cwd, name), `${name}\n${"one line of it\n".repeat(1_500)}`)
  await ask(opened, "Read them.")
  await opened.chat.compact()
  await opened.chat.add("And?")
  return see(opened, textOf(await opened.chat.prepare()))
}
const attachments = (chat: OpenScene["chat"], type: Attachment["type"]) =>
  engineOf(chat)
    .views.context.storedMessages()
    .filter((message) => message.type === "attachment" && message.attachment.type === type)
const attached =
  (type: Attachment["type"]) =>
  ({ chat }: OpenScene) =>
    attachments(chat, type).length

/** Two skills in use, compacted manually. */
const skills = (see: Compacting["see"]) => async (settings: SettingsInput) => {
  const opened = await scene(settings)
  for (const name of ["brew", "bake"])
    await opened.chat.attach({
      type: "skill_content",
      name,
      content: `${name}
${words(2_000)}`,
    })
  await work(opened.chat, { rounds: 20, tokens: 2_000, tool: "Look" })
  await opened.chat.compact()
  return see(opened, textOf(await opened.chat.prepare()))
}

const restoredFiles = restored(attached("file"))

const cutSkills = skills((_, sent) => sent.includes("Cut here"))

export const COMPACTION_FIGURES: Probes = {
  "tail-tokens": {
    observe: byHand({ see: (_, sent) => sent.split('"tool_result"').length - 1 }),
    turned: 0,
    usual: 2,
    changed: 1, // the result that the model has not read
  },
  "summary-budget": {
    observe: byHand({
      see: (_, sent) => thousands(sent.length),
      responder: { summary: () => LONG_SUMMARY },
      work: { rounds: 20 },
    }),
    turned: 20_000,
    usual: 39,
    changed: 57,
  },
  "compact-min-shrink": {
    observe: byHand({ see: count }),
    turned: 90,
    usual: 1,
    changed: says("not make enough room"),
  },
  "summary-retries": {
    observe: byHand({ see: ({ of }) => of("summary").length, responder: { summary: () => "" } }),
    turned: 0,
    usual: 4,
    changed: 2,
  },
  "summary-shrinks": {
    observe: byHand({ see: ({ of }) => of("summary").length, responder: TOO_LONG }),
    turned: 1,
    usual: 5,
    changed: 3,
  },
  "summary-drop": {
    observe: byHand({ see: (opened) => thousands(lastAsked(opened).length), responder: TOO_LONG }),
    turned: 50,
    usual: 75,
    changed: 32,
  },
  "compact-failures": {
    observe: async (settings) => {
      const opened = await scene(settings, {
        base: { ...SMALL, switches: { ...SMALL.switches, "compact-offline": false } },
        responder: { summary: () => "" },
      })
      await work(opened.chat, { rounds: 8, tokens: 4_700, tool: "Look" })
      for (let at = 0; at < 5; at++) await opened.chat.prepare().catch(() => undefined)
      return (await decisions(opened.chat, "compaction-failed")).length
    },
    turned: 1,
    usual: 3,
    changed: 1,
  },
  "offline-summary-limit": {
    observe: async (settings) => (await talk(settings)).summary,
    turned: 100,
    usual: 8,
    changed: 1,
  },
  "audit-coverage": {
    observe: named,
    turned: 0,
    usual: 2,
    changed: 1,
  },
  "audit-fabrication": {
    observe: byHand({ see: ({ of }) => of("summary").length, responder: { summary: () => INVENTED } }),
    turned: 100,
    usual: 2,
    changed: 1,
  },
  "keep-result-limit": {
    observe: byHand({ see: (_, sent) => Math.round(keptResults(sent)[0]!.length / 100) }),
    turned: 300,
    usual: 21, // including the sentence about omissions
    changed: 4,
  },
  "compact-target": { observe: async (settings) => (await talk(settings)).sent, turned: 10, usual: 18, changed: 11 },
  "record-limit": {
    observe: byHand({ see: (_, sent) => sent.includes("## Exact names") }),
    turned: 0,
    usual: true,
    changed: false,
  },
  "restore-files": { observe: restoredFiles, turned: 2, usual: 5, changed: 2 },
  "restore-file-limit": {
    observe: restored(({ chat }) => thousands(JSON.stringify(attachments(chat, "file")[0]).length)),
    turned: 1_000,
    usual: 20,
    changed: 4,
  },
  "restore-limit": {
    observe: restored(({ chat }) => thousands(JSON.stringify(attachments(chat, "file")).length)),
    turned: 6_000,
    usual: 101,
    changed: 23, // all files share it
  },
  "restore-skill-limit": {
    observe: cutSkills,
    turned: 1_000,
    usual: false,
    changed: true,
  },
  "restore-skills-limit": { observe: cutSkills, turned: 3_000, usual: false, changed: true },
}
