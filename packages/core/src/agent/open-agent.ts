/** Opens an agent: wires a conversation, a model, tools, permissions, hooks and instruction files together. */
import { realpath } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { systemClock } from "../base/clock.ts"
import { promptText } from "../base/text.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import { editorDue } from "../conversation/editor.ts"
import { openWithSettings, type Prepared, WhenOpen } from "../conversation/open.ts"
import type { ConversationOptions } from "../conversation/options.ts"
import { dailyOf } from "../conversation/project-memory.ts"
import { settingsOf } from "../conversation/prompt.ts"
import { strataDirectory } from "../journal/file/layout.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { findModel } from "../tokens/models.ts"
import { forgetAll } from "../tools/files/read-state.ts"
import { recallTool } from "../tools/session/recall.ts"
import { RECALL_TOOL } from "../tools/session/recall-source.ts"
import type { OpenToolset } from "../tools/tool.ts"
import { dollarsIn } from "../views/ledger/ledger.ts"
import { Agent } from "./agent.ts"
import { memoryProblems } from "./agent-memory.ts"
import { countedModels } from "./counted-models.ts"
import { type Base, type Equipment, equip } from "./equipment.ts"
import { groundOf, realDirectory } from "./ground.ts"
import type { Companions, SubAgentPlace } from "./loop/companions.ts"
import { CacheKeeper } from "./loop/keep-warm.ts"
import { ServerSampling } from "./loop/server-sampling.ts"
import { definitionSizes, factsDue, introductionsOfLater, listingDue, maySearchTools } from "./loop/what-is-due.ts"
import { checkAgentOptions, type SingleAgentOptions } from "./options.ts"
import { openingMode } from "./permissions/opening-policy.ts"
import { ruleProblems } from "./permissions/rules.ts"
import { loadTrusted } from "./permissions/trust.ts"
import { openTools } from "./tools/toolsets.ts"

export async function openAgent(options: SingleAgentOptions): Promise<Agent> {
  checkAgentOptions(options)
  const { settings, problems } = await settingsFor(options)
  return openAgentWith(options, settings, { problems })
}

/** The settings that count for an agent, and what of the project's does not count. */
export async function settingsFor(options: SingleAgentOptions) {
  const { env = process.env, clock = systemClock, trustProject } = options
  if (options.effectiveSettings) return { settings: options.effectiveSettings, problems: [] }
  const cwd = await realDirectory(options.cwd ?? process.cwd())
  const home = options.dir ?? strataDirectory(env)
  const code = options.settings ? { code: options.settings } : {}
  return loadTrusted({ home, cwd, env, ...code }, { trustProject, clock })
}

/** What the floor above adds. */
export interface Surroundings {
  /** What of the settings does not count, as sentences. */
  readonly problems?: readonly string[]
  readonly companions?: Companions
  /** For an agent that works for another one. */
  readonly sub?: SubAgentPlace
}

/** For settings that were loaded before. */
export async function openAgentWith(
  options: SingleAgentOptions,
  settings: EffectiveSettings,
  { sub, companions, problems = [] }: Surroundings = {},
): Promise<Agent> {
  checkAgentOptions(options)
  const ground = await groundOf(options, settings, sub)
  const whenOpen = new WhenOpen()
  const models = countedModels({ options, ground, sub, whenOpen })
  const toolset = await openToolset({ options, ground, sub, whenOpen, models })
  try {
    const equipment = await equip({ options, ground, sub, whenOpen, models, toolset })
    const conversation = await converse(equipment)
    try {
      whenOpen.begin({ conversation, layers: equipment.layers })
      return await begin(equipment, { conversation, companions, problems })
    } catch (error) {
      await conversation.close()
      throw error
    }
  } catch (error) {
    await toolset.close().catch(() => undefined) // why the opening failed matters more
    throw error
  }
}

async function openToolset(base: Omit<Base, "toolset">): Promise<Required<OpenToolset>> {
  const { options, ground, whenOpen, models } = base
  const sampling = new ServerSampling({ canAsk: options.promptUser !== undefined, model: models.model, whenOpen })
  const trustedSkills = new Map((ground.loaded.skills ?? []).map(({ path, text }) => [path, text]))
  return withRecall(await openTools(options.tools ?? [], { ...ground, sampling, trustedSkills }), base)
}

/**
 * Every agent can look up its own past. The tool is there from the start, because a list of tools that changes costs the cache. One of yours
 * with its name takes its place. An agent that works for another one has it only where its definition allows it.
 */
function withRecall(
  toolset: Required<OpenToolset>,
  { options: { rerank }, ground, sub }: Pick<Base, "options" | "ground" | "sub">,
): Required<OpenToolset> {
  const isTaken = toolset.tools.some(({ name, useIn }) => name === RECALL_TOOL && !useIn)
  const mayRecall = sub?.mayRecall ?? true
  if (ground.settings.off || isTaken || !mayRecall) return toolset
  // an agent that shares the tools of another one has a past of its own
  const others = toolset.tools.filter(({ name }) => name !== RECALL_TOOL)
  return { ...toolset, tools: [...others, recallTool(rerank ? { rerank } : {})] }
}

/** Options that the conversation takes as they are. Both must have them under the same name. */
const PASSED_ON = [
  "mustExist",
  "lockTimeoutMs",
  "title",
  "ids",
  "system",
  "memory",
  "embed",
] as const satisfies readonly (keyof SingleAgentOptions & keyof ConversationOptions)[]

/** Opens the journal. */
async function converse(equipment: Equipment): Promise<Conversation> {
  const { options, ground, sub, models, toolset, flags, notices, layers, instructions, deferred, state } = equipment
  const { id, cwd, root: dir, env, clock, store, settings, memory, place } = ground
  const { model, meter } = models
  // the provider may know a model that the table does not have; the conversation takes what it says
  if (!findModel(model.name, settings.models).known) await model.learn?.().catch(() => undefined)
  return openWithSettings(
    {
      ...pick(options, PASSED_ON),
      ...{ id, model, cwd, dir, env, clock, store, layers },
      ...(sub ? { source: "agent" as const } : {}),
      tools: toolset.tools,
      refreshPrompt: async () => ({ context: await instructions.renew() }),
      cacheBreakpoints: false, // the model places its own
    },
    {
      ...{ settings: ground.loaded, flags, notices },
      isTraced: true,
      isProgram: options.autonomous === true || sub !== undefined,
      meter,
      ...(memory ? { memory } : {}),
      project: ground.project,
      place: { project: place, ...(sub ? { under: sub.under } : {}) },
      due: await whatIsDue(equipment),
      firstPrompt: {
        system: systemPrompt(cwd, sub?.prompt ?? withStyle(codingPrompt(), ground.loaded)),
        context: instructions.texts,
      },
      ...(deferred ? { deferred: { ...deferred, isOn: () => maySearchTools(state.policy) } } : {}),
    },
  )
}

interface OpenResult {
  readonly conversation: Conversation
  readonly companions: Companions | undefined
  readonly problems: readonly string[]
}

/** The agent at work on its conversation: in its mode, with what hooks and tools say at the start. */
async function begin(equipment: Equipment, { conversation, companions, problems }: OpenResult): Promise<Agent> {
  const { options, ground, sub, models, toolset, state, reads, tools, instructions } = equipment
  if (!sub) models.budget.follow(() => dollarsIn(conversation.views.ledger))
  await letReadOwnFiles(equipment, conversation)
  // what was read or written on the branch that was left is unknown on this one
  conversation.on("entry", ({ entry }) => {
    if (entry.type === "strata" && entry.subtype === "rewound") forgetAll(reads)
  })
  const { mode, problem } = openingMode({
    asked: options.mode,
    kept: conversation.views.context.session?.mode,
    configured: ground.settings.permissions.mode,
    canAsk: options.askPermission !== undefined,
  })
  const unusable = ruleProblems(state.policy, tools)
  const agent = new Agent({
    ...equipment,
    ...models,
    ...{ conversation, companions, clock: ground.clock, telemetry: ground.telemetry },
    toolset: {
      ...toolset,
      get tools() {
        return [...tools, ...toolset.later.tools()]
      },
    },
    askPermission: options.askPermission,
    isSubAgent: sub !== undefined,
    daily: sub ? sub.daily : dailyOf(ground.memory),
    costLimit: options.costLimit,
    isAutonomous: options.autonomous === true,
    keeper: equipment.keepsWarm
      ? new CacheKeeper({ conversation, model: models.model, clock: ground.clock })
      : undefined,
    startedBy: options.startedBy ?? "startup",
    leftOut: () => [
      ...problems,
      ...(ground.loaded.problems ?? []),
      ...unusable,
      ...memoryProblems(ground, tools),
      ...instructions.problems,
      ...(problem === undefined ? [] : [problem]),
    ],
  })
  await state.setMode(mode)
  await agent.start()
  return agent
}

/** The text around a summary names the journal, and the marker in a shortened section of the notes names their file. */
async function letReadOwnFiles({ state }: Equipment, conversation: Conversation): Promise<void> {
  const { file, notesPath } = engineOf(conversation).record.journal
  if (file !== undefined) state.letRead(await realpath(file))
  if (notesPath !== undefined) state.letRead(await realNotes(notesPath))
}

/** The file may not exist yet. A rule about paths is checked against real paths. */
async function realNotes(path: string): Promise<string> {
  const project = dirname(dirname(path))
  return join(await realpath(project).catch(() => project), relative(project, path))
}

/** What the model must know with the next request: mode and date, tools that wait or came late, what the editor shows. */
async function whatIsDue(equipment: Equipment): Promise<NonNullable<Prepared["due"]>> {
  const { options, ground, state, own, deferred, toolset, models } = equipment
  const { model } = models
  const known = { ...ground.settings.models, ...settingsOf(model, ground.settings.models) }
  const { family } = findModel(model.name, known).facts
  const toolsDue = deferred ? listingDue(deferred, await definitionSizes(own, { ...deferred, family })) : () => []
  const lateIntroductions = introductionsOfLater(toolset.later)
  return (context) => [
    ...factsDue(context, {
      mode: state.policy.mode,
      ...(options.system === undefined ? { now: ground.clock.now() } : {}),
    }),
    ...toolsDue(context),
    ...lateIntroductions(context),
    ...editorDue(context, state.editor),
  ]
}

/** Nothing in it changes by itself: date and mode are said in messages. */
const systemPrompt = (cwd: string, prompt: string): string =>
  `${prompt}\n\nWorking directory: ${cwd}\nPlatform: ${process.platform}`

/** How the person wants answers to read. What an agent reports to another one keeps its own form. */
const withStyle = (prompt: string, { outputStyle: style }: EffectiveSettings): string =>
  style ? `${prompt}\n\n# Output style: ${style.name}\n\n${style.text}` : prompt

const codingPrompt = (): string => promptText(new URL("./instructions/system-prompt.md", import.meta.url)).trim()

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]])) as Pick<T, K>
}
