/** Opens an agent: wires a conversation, a model, tools, permissions, hooks and instruction files together. */
import { realpath } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { systemClock } from "../base/clock.ts"
import { promptText } from "../base/text.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import { pendingEditorState } from "../conversation/editor.ts"
import { ConversationRef, type OpenContext, openWithSettings } from "../conversation/open.ts"
import type { ConversationOptions } from "../conversation/options.ts"
import { dailyOf } from "../conversation/project-memory.ts"
import { modelSettings } from "../conversation/prompt.ts"
import { strataDirectory } from "../journal/file/layout.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { findModel } from "../tokens/models.ts"
import { forgetAll } from "../tools/files/read-state.ts"
import { recallTool } from "../tools/session/recall.ts"
import { RECALL_TOOL } from "../tools/session/recall-source.ts"
import type { OpenToolset } from "../tools/tool.ts"
import { totalDollars } from "../views/ledger/ledger.ts"
import { Agent } from "./agent.ts"
import { createAgentEnvironment, realDirectory } from "./agent-environment.ts"
import { memoryProblems } from "./agent-memory.ts"
import { type AgentSetup, type AgentSetupInput, setUpAgent } from "./agent-setup.ts"
import type { AgentLinks, SubAgentContext } from "./loop/agent-links.ts"
import { CacheKeeper } from "./loop/keep-warm.ts"
import {
  createLateIntroductions,
  createToolListing,
  definitionSizes,
  maySearchTools,
  pendingFacts,
} from "./loop/pending-notices.ts"
import { ServerSampling } from "./loop/server-sampling.ts"
import { meterModels } from "./metered-models.ts"
import { checkAgentOptions, type SingleAgentOptions } from "./options.ts"
import { initialMode } from "./permissions/initial-permissions.ts"
import { ruleProblems } from "./permissions/rules.ts"
import { loadTrusted } from "./permissions/trust.ts"
import { openTools } from "./tools/toolsets.ts"

export async function openAgent(options: SingleAgentOptions): Promise<Agent> {
  checkAgentOptions(options)
  const { settings, problems } = await settingsFor(options)
  return openAgentWith(options, settings, { problems })
}

/** Loads the effective settings of an agent, with problems about project settings that are not applied. */
export async function settingsFor(options: SingleAgentOptions) {
  const { env = process.env, clock = systemClock, trustProject } = options
  if (options.effectiveSettings) return { settings: options.effectiveSettings, problems: [] }
  const cwd = await realDirectory(options.cwd ?? process.cwd())
  const home = options.dir ?? strataDirectory(env)
  const code = options.settings ? { code: options.settings } : {}
  return loadTrusted({ home, cwd, env, ...code }, { trustProject, clock })
}

/** Additional input from the team that opens an agent. */
export interface OpenAgentDependencies {
  /** Sentences about settings that are not applied. */
  readonly problems?: readonly string[]
  readonly agentLinks?: AgentLinks
  /** Set for a sub-agent. */
  readonly sub?: SubAgentContext
}

/** Opens an agent with settings that are already loaded. */
export async function openAgentWith(
  options: SingleAgentOptions,
  settings: EffectiveSettings,
  { sub, agentLinks, problems = [] }: OpenAgentDependencies = {},
): Promise<Agent> {
  checkAgentOptions(options)
  const ground = await createAgentEnvironment(options, settings, sub)
  const conversationRef = new ConversationRef()
  const models = meterModels({ options, ground, sub, conversationRef })
  const toolset = await openToolset({ options, ground, sub, conversationRef, models })
  try {
    const equipment = await setUpAgent({ options, ground, sub, conversationRef, models, toolset })
    const conversation = await openAgentConversation(equipment)
    try {
      conversationRef.begin({ conversation, layers: equipment.layers })
      return await begin(equipment, { conversation, agentLinks, problems })
    } catch (error) {
      await conversation.close()
      throw error
    }
  } catch (error) {
    await toolset.close().catch(() => undefined) // the cause of the failed opening matters more
    throw error
  }
}

async function openToolset(base: Omit<AgentSetupInput, "toolset">): Promise<Required<OpenToolset>> {
  const { options, ground, conversationRef, models } = base
  const sampling = new ServerSampling({
    canAsk: options.promptUser !== undefined,
    model: models.model,
    conversationRef,
  })
  const trustedSkills = new Map((ground.loaded.skills ?? []).map(({ path, text }) => [path, text]))
  return withRecall(await openTools(options.tools ?? [], { ...ground, sampling, trustedSkills }), base)
}

/**
 * Adds the Recall tool, from the start, because changing the list of tools invalidates the cache. A custom tool with that name replaces it.
 * A sub-agent has it only if its definition allows it.
 */
function withRecall(
  toolset: Required<OpenToolset>,
  { options: { rerank }, ground, sub }: Pick<AgentSetupInput, "options" | "ground" | "sub">,
): Required<OpenToolset> {
  const isTaken = toolset.tools.some(({ name, useIn }) => name === RECALL_TOOL && !useIn)
  const mayRecall = sub?.mayRecall ?? true
  if (ground.settings.off || isTaken || !mayRecall) return toolset
  // a sub-agent shares its lead's tools, but needs a Recall tool for its own conversation
  const others = toolset.tools.filter(({ name }) => name !== RECALL_TOOL)
  return { ...toolset, tools: [...others, recallTool(rerank ? { rerank } : {})] }
}

/** Options that are passed to the conversation unchanged, under the same name. */
const PASSED_OPTIONS = [
  "mustExist",
  "lockTimeoutMs",
  "title",
  "ids",
  "system",
  "memory",
  "embed",
] as const satisfies readonly (keyof SingleAgentOptions & keyof ConversationOptions)[]

/** Opens the conversation. */
async function openAgentConversation(equipment: AgentSetup): Promise<Conversation> {
  const { options, ground, sub, models, toolset, flags, notices, layers, instructions, deferred, state } = equipment
  const { id, cwd, root: dir, env, clock, store, settings, memory, namespace } = ground
  const { model, meter } = models
  // the provider may know a model that is not in the table; the conversation uses the facts it returns
  if (!findModel(model.name, settings.models).known) await model.learn?.().catch(() => undefined)
  return openWithSettings(
    {
      ...pick(options, PASSED_OPTIONS),
      ...{ id, model, cwd, dir, env, clock, store, layers },
      ...(sub ? { source: "agent" as const } : {}),
      tools: toolset.tools,
      refreshPrompt: async () => ({ context: await instructions.renew() }),
      cacheBreakpoints: false, // the model places its own breakpoints
    },
    {
      ...{ settings: ground.loaded, flags, notices },
      isTraced: true,
      isProgram: options.autonomous === true || sub !== undefined,
      meter,
      ...(memory ? { memory } : {}),
      project: ground.project,
      address: { project: namespace, ...(sub ? { under: sub.leadId } : {}) },
      due: await createPendingNotices(equipment),
      firstPrompt: {
        system: systemPrompt(cwd, sub?.prompt ?? withStyle(codingPrompt(), ground.loaded)),
        context: instructions.texts,
      },
      ...(deferred ? { deferred: { ...deferred, isOn: () => maySearchTools(state.policy) } } : {}),
    },
  )
}

interface AgentStartInput {
  readonly conversation: Conversation
  readonly agentLinks: AgentLinks | undefined
  readonly problems: readonly string[]
}

/** Creates the agent, sets its mode, and runs start hooks. */
async function begin(equipment: AgentSetup, { conversation, agentLinks, problems }: AgentStartInput): Promise<Agent> {
  const { options, ground, sub, models, toolset, state, reads, tools, instructions } = equipment
  if (!sub) models.budget.follow(() => totalDollars(engineOf(conversation).views.ledger))
  await letReadOwnFiles(equipment, conversation)
  // reads and writes of the abandoned branch do not apply to this one
  conversation.on("entry", ({ entry }) => {
    if (entry.type === "strata" && entry.subtype === "rewound") forgetAll(reads)
  })
  const { mode, problem } = initialMode({
    requested: options.mode,
    resumed: engineOf(conversation).views.context.session?.mode,
    configured: ground.settings.permissions.mode,
    canAsk: options.askPermission !== undefined,
  })
  const unusable = ruleProblems(state.policy, tools)
  const agent = new Agent({
    ...equipment,
    ...models,
    ...{ conversation, agentLinks, clock: ground.clock, telemetry: ground.telemetry },
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
    openingProblems: () => [
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

/** Allows reading the journal and the notes, whose paths are mentioned after compactions and in shortened notes. */
async function letReadOwnFiles({ state }: AgentSetup, conversation: Conversation): Promise<void> {
  const { file, notesPath } = engineOf(conversation).record.journal
  if (file !== undefined) state.letRead(await realpath(file))
  if (notesPath !== undefined) state.letRead(await realNotes(notesPath))
}

/** Real path of the notes file, which may not exist yet. Path rules are checked against real paths. */
async function realNotes(path: string): Promise<string> {
  const project = dirname(dirname(path))
  return join(await realpath(project).catch(() => project), relative(project, path))
}

/** Collects notices for the next request: mode and date, deferred and late tools, what the editor shows. */
async function createPendingNotices(equipment: AgentSetup): Promise<NonNullable<OpenContext["due"]>> {
  const { options, ground, state, wrappedTools, deferred, toolset, models } = equipment
  const { model } = models
  const known = { ...ground.settings.models, ...modelSettings(model, ground.settings.models) }
  const { family } = findModel(model.name, known).facts
  const toolsDue = deferred
    ? createToolListing(deferred, await definitionSizes(wrappedTools, { ...deferred, family }))
    : () => []
  const lateIntroductions = createLateIntroductions(toolset.later)
  return (context) => [
    ...pendingFacts(context, {
      mode: state.policy.mode,
      ...(options.system === undefined ? { now: ground.clock.now() } : {}),
    }),
    ...toolsDue(context),
    ...lateIntroductions(context),
    ...pendingEditorState(context, state.editor),
  ]
}

/** The system prompt. It is constant: date and mode are sent in messages. */
const systemPrompt = (cwd: string, prompt: string): string =>
  `${prompt}\n\nWorking directory: ${cwd}\nPlatform: ${process.platform}`

/** Appends the user's output style. Sub-agents, which report to another agent, do not use it. */
const withStyle = (prompt: string, { outputStyle: style }: EffectiveSettings): string =>
  style ? `${prompt}\n\n# Output style: ${style.name}\n\n${style.text}` : prompt

const codingPrompt = (): string => promptText(new URL("./instructions/system-prompt.md", import.meta.url)).trim()

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]])) as Pick<T, K>
}
