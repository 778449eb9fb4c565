/** Opens an agent: wires a conversation, a model, tools, permissions, hooks and instruction files together. */
import { realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, relative } from "node:path"
import { systemClock } from "../base/clock.ts"
import { randomIds } from "../base/ids.ts"
import { localPerson, placeFor } from "../base/owner.ts"
import { repositoryRoot } from "../base/repository.ts"
import { createTelemetry } from "../base/telemetry.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { defaultLayers, type LayerSurroundings } from "../conversation/default-layers.ts"
import { editorDue } from "../conversation/editor.ts"
import { openWithSettings } from "../conversation/open.ts"
import { projectDreams } from "../conversation/project-dreams.ts"
import { defaultRoot, journalDirectory, notesConfigDirectory } from "../journal/file/layout.ts"
import { compactInstructionsIn } from "../layers/4-compaction/guidance.ts"
import type { Layer } from "../layers/layer.ts"
import { projectIdentity } from "../memory/project-identity.ts"
import type { Model } from "../model/model.ts"
import { oneSlotModel, Slot, slotsOf } from "../model/one-slot.ts"
import { Meter } from "../model/spending/meter.ts"
import { meteredModel, withoutMeter } from "../model/spending/metered-model.ts"
import { Purse } from "../model/spending/purse.ts"
import { tracedModel } from "../model/traced-model.ts"
import { claudeModeOf } from "../settings/claude-settings.ts"
import { createFlags } from "../settings/flags.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { findModel } from "../tokens/models.ts"
import { deferredTools } from "../tools/deferred/deferred-tools.ts"
import { FileReads, forgetAll, readsInView } from "../tools/files/read-state.ts"
import { recallTool } from "../tools/session/recall.ts"
import { RECALL_TOOL } from "../tools/session/recall-source.ts"
import type { Rerank } from "../tools/session/rerank.ts"
import { snipTool } from "../tools/session/snip.ts"
import type { Confinement } from "../tools/shell/confinement.ts"
import type { OpenToolset } from "../tools/tool.ts"
import { openTools } from "../tools/toolsets.ts"
import { dollarsIn } from "../views/ledger/ledger.ts"
import { Agent } from "./agent.ts"
import { AgentMemory, confirming, memoryRights } from "./agent-memory.ts"
import { type Ground, groundOf, projectAt } from "./ground.ts"
import { compactionHooks } from "./hooks/compaction-hooks.ts"
import { commandHooks } from "./hooks/hook-command.ts"
import { hooksOf, reportsOf } from "./hooks/hooks.ts"
import { InstructionWatch } from "./instructions/instruction-watch.ts"
import { codingPrompt } from "./instructions/system-prompt.ts"
import { AgentState } from "./loop/agent-state.ts"
import { factsDue } from "./loop/changing-facts.ts"
import type { Companions, SubAgentPlace } from "./loop/companions.ts"
import { definitionSizes, listingDue, maySearchTools, toolsInView } from "./loop/deferred-listing.ts"
import { introductionsOfLater } from "./loop/introductions.ts"
import { CacheKeeper } from "./loop/keep-warm.ts"
import { ServerSampling } from "./loop/server-sampling.ts"
import { memoryProblems } from "./memory-problems.ts"
import { type DuringCommand, withMemoryWrites } from "./memory-writes.ts"
import { type AgentOptions, checkAgentOptions } from "./options.ts"
import { openingMode } from "./permissions/opening-mode.ts"
import { isInside, judge, type PermissionPolicy, type Request } from "./permissions/permissions.ts"
import { ruleProblems } from "./permissions/rules.ts"
import { loadTrusted } from "./permissions/trust.ts"

export async function openAgent(options: AgentOptions): Promise<Agent> {
  checkAgentOptions(options)
  const { settings, problems } = await settingsFor(options)
  return openAgentWith(options, settings, { problems })
}

/** The settings that count for an agent, and what of the project's does not count. */
export async function settingsFor(options: AgentOptions) {
  const { env = process.env, clock = systemClock, trustProject } = options
  const cwd = await projectAt(options.cwd ?? process.cwd())
  const home = options.dir ?? defaultRoot(env)
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
  options: AgentOptions,
  settings: EffectiveSettings,
  surroundings: Surroundings = {},
): Promise<Agent> {
  checkAgentOptions(options)
  const ground = await groundOf(options, settings, surroundings.sub)
  const sampling = new ServerSampling({ canAsk: options.askPerson !== undefined, model: ground.model })
  const trustedSkills = new Map((settings.skills ?? []).map(({ path, text }) => [path, text]))
  const opened = await openTools(options.tools ?? [], { ...ground, sampling, trustedSkills })
  const toolset = withRecall(opened, {
    ...{ off: settings.values.off, mayRecall: surroundings.sub?.mayRecall ?? true, rerank: options.rerank },
  })
  try {
    return await assemble({ options, ground, toolset, sampling, ...surroundings })
  } catch (error) {
    await toolset.close().catch(() => undefined) // why the opening failed matters more
    throw error
  }
}

/** The file may not exist yet. A rule about paths is checked against real paths. */
async function realNotes(path: string): Promise<string> {
  const project = dirname(dirname(path))
  return join(await realpath(project).catch(() => project), relative(project, path))
}

interface Assembly extends Surroundings {
  readonly options: AgentOptions
  readonly ground: Ground
  readonly toolset: Required<OpenToolset>
  readonly sampling: ServerSampling
}

async function assemble({ options, ground, toolset: given, ...rest }: Assembly): Promise<Agent> {
  const { problems = [], companions, sub, sampling } = rest
  const { cwd, root, env, clock, settings, store, memory, id, owner, place } = ground
  const telemetry = createTelemetry({ exportContent: settings.exportContent, clock })
  const tracing = {
    telemetry,
    conversation: () => conversation.id,
    context: () => conversation.views.ledger.context,
    source: sub ? ("agent" as const) : undefined,
  }
  const purse = sub?.purse ?? new Purse()
  if (!sub) purse.limit = options.costLimit ?? Number.POSITIVE_INFINITY
  const meter = new Meter({ purse, clock, ids: options.ids ?? randomIds, source: sub ? "agent" : "main" })
  const slots = slotsOf(ground.model, findModel(ground.model.name, settings.models).facts.slots)
  const slot = !sub && slots === 1 ? new Slot() : undefined
  const shared = (given: Model) => (slot ? oneSlotModel(withoutMeter(given), slot) : withoutMeter(given))
  const counted = (given: Model) => meteredModel(tracedModel(shared(given), tracing), meter)
  const model = counted(ground.model)
  const summariser = ground.summariser && counted(ground.summariser)
  const { askPermission, askPerson, approvePlan, reads = new FileReads() } = options
  const notices: string[] = []
  const flags = createFlags({
    ...{ settings, context: { targetingKey: id, model: model.name } },
    onRefused: (message) => notices.push(message),
    ...(options.flags ? { client: options.flags } : {}),
  })
  const { on } = await flags.read(given.tools.map(({ name }) => name))
  const snip = snipTool({ exchanges: () => conversation.exchanges(), snip: (range) => conversation.snip(range) })
  // a tool costs tokens with every request, and a sub-agent has no one to ask
  const toolset = !sub && on["snip-tool"] ? { ...given, tools: [...given.tools, snip] } : given
  const policy = {
    ...policyOf(ground, [...toolset.readable, ...(sub ? [putAside(root, sub)] : [])]),
    ...(sub?.copy ? { copy: sub.copy } : {}),
  }
  const instructions = await InstructionWatch.start({
    clock,
    home: root,
    project: repositoryRoot(cwd, { home: env.HOME }),
    cwd,
    ...(env.HOME ? { userHome: env.HOME } : {}),
    onShown: ({ path, text, modifiedMs }) => {
      if (reads.get(path)?.content !== text)
        reads.set(path, { content: text, modifiedMs, at: clock.now().toISOString() })
    },
    // an abort ends the hook, and the load goes on
    onLoaded: (path, reason) =>
      runHooks("InstructionsLoaded", { about: { file_path: path, load_reason: reason } }).then(reportsOf, () => []),
    // rules that deny or ask count in every mode; where a file may be, the owner of the import decides
    mayRead: (path) => judge(readingOf(path), { ...policy, mode: "ask", readable: ["/"] }).verdict === "allow",
  })
  // a sub-agent's commands can reach the memory of the project too
  const duringCommand: DuringCommand =
    sub?.duringCommand ?? ((run, isOpenEnded) => agentMemory.duringCommand(run, isOpenEnded))
  const own = withMemoryWrites(toolset.tools, {
    ...(memory?.directory === undefined ? {} : { directory: memory.directory }),
    write: (file, write) => agentMemory.writing(file, write),
    duringCommand,
  })
  const { later } = toolset
  const deferred = deferredTools(own, () => toolsInView(conversation.views.context), later)
  const tools = deferred ? [...own, deferred.search, deferred.call] : own
  const inView = readsInView(reads, (toolUseId) => conversation.views.context.shows(toolUseId))
  const state = new AgentState({
    policy,
    directory: cwd,
    clock,
    env,
    reads: inView,
    askPerson,
    approvePlan,
    recordMode: (mode) => conversation.setMode(mode),
    within: sub?.within,
    mostRefusals: () => conversation.flags.figures["refusals-in-a-row"],
    keepFile: (bytes) => conversation.keepFile(bytes),
    confinement: () => confinement(),
    putsAside: () => layers.some(({ name }) => name === "tool-results") && conversation.flags.on["tool-result-storage"],
  })
  const confinement = (): Confinement => ({
    ...{ sandbox: settings.sandbox, root, waitMs: 1_000 * conversation.flags.figures["command-wait"] },
    readable: [...(state.policy.readable ?? []), ...(memory?.directory ? [memory.directory] : [])],
  })
  const closing = new AbortController()
  const runHooks = hooksOf({
    hooks: [...(options.hooks ?? []), ...commandHooks(settings.hooks, { ...env, CLAUDE_PROJECT_DIR: cwd })],
    session: () => ({
      session_id: sub?.under ?? conversation.id,
      transcript_path: sub?.leadLocation ?? conversation.location,
      cwd: state.directory,
      permission_mode: claudeModeOf(state.policy.mode),
      ...(sub ? { agent_id: sub.id, agent_type: sub.type, agent_transcript_path: conversation.location } : {}),
    }),
    closing: closing.signal,
  })
  const dreaming =
    memory?.kind === "project"
      ? projectDreams({
          ...{ memory, project: cwd, clock, env, model: summariser ?? model, confinement },
          rules: (tool, question) => {
            const policy = { ...state.policy, mode: "ask" as const, readable: ["/"] } // where it may read is decided already
            const { verdict, why } = judge({ tool, question, isReadOnly: true }, policy)
            return verdict === "allow" || `${why}.`
          },
        })
      : undefined
  // no one waits for a batch or for a sub-agent
  const keepsWarm = options.keepWarm === true && !options.autonomous && !sub && model.warm !== undefined
  const layers = layersOf(options, {
    model,
    keepsWarm,
    tools,
    reads,
    readsInView: inView,
    toolContext: state.toolContext,
    hooks: compactionHooks(runHooks),
    guidance: () => [
      settings.compactInstructions ?? "",
      ...Object.values(instructions.texts).map(compactInstructionsIn),
    ],
    excluded: () => ({ files: instructions.paths, directories: [root] }),
    mayRead: (path) => isInside(path, cwd) && judge(readingOf(path), state.policy).verdict === "allow",
    notesConfig: notesConfigDirectory(root),
    ...(summariser ? { summariser } : {}),
    ...(options.autonomous ? { autonomous: true } : {}),
    ...(memory ? { memory } : {}),
    ...(dreaming ? { dreaming } : {}),
    ...(memory && askPermission ? { confirmMemory: confirming(askPermission, memory) } : {}),
  })
  const agentMemory = new AgentMemory({
    ...{ memory, layers, mode: settings.memory, isOwned: owner !== undefined },
    unused: async () =>
      store.memories?.({ project: placeFor((await projectIdentity(cwd)).name, owner ?? localPerson) }),
    conversation: () => conversation,
  })
  // the provider may know a model that the table does not have; the conversation takes what it says
  if (!findModel(model.name, settings.models).known) await model.learn?.().catch(() => undefined)
  const conversation: Conversation = await openWithSettings(
    {
      ...pick(options, ["mustExist", "title", "ids", "system", "memory"]),
      ...{ id, model, cwd, dir: root, env, clock, store, layers },
      ...(sub ? { source: "agent" as const } : {}),
      tools: toolset.tools,
      refreshPrompt: async () => ({ context: await instructions.renew() }),
      cacheBreakpoints: false, // the model places its own
    },
    {
      ...{ settings: ground.loaded, flags, notices },
      isTraced: true,
      isProgram: options.autonomous === true || sub !== undefined,
      isHomeUsed: options.store === undefined,
      meter,
      ...(memory ? { memory } : {}),
      place: { project: place, ...(sub ? { under: sub.under } : {}) },
      firstPrompt: { system: systemPrompt(cwd, sub?.prompt), context: instructions.texts },
      ...(deferred ? { deferred: { ...deferred, isOn: () => maySearchTools(state.policy) } } : {}),
    },
  )
  if (!sub) purse.follow(() => dollarsIn(conversation.views.ledger))
  sampling.use({ model, conversation })
  // the text around a summary names it; a journal in memory has no file
  if (isAbsolute(conversation.location)) state.letRead(await realpath(conversation.location))
  // the marker in a shortened section of the notes names their file
  if (conversation.notesPath !== undefined) state.letRead(await realNotes(conversation.notesPath))
  const { family } = conversation.views.context
  const toolsDue = deferred ? listingDue(deferred, await definitionSizes(own, { ...deferred, family })) : () => []
  const lateIntroductions = introductionsOfLater(later)
  conversation.attachWhatIsDue((context) => [
    ...factsDue(context, { mode: state.policy.mode, ...(options.system === undefined ? { now: clock.now() } : {}) }),
    ...toolsDue(context),
    ...lateIntroductions(context),
    ...editorDue(context, agent.editor),
  ])
  // what was read or written on the branch that was left is unknown on this one
  conversation.on("entry", ({ entry }) => {
    if (entry.type === "strata" && entry.subtype === "rewound") forgetAll(reads)
  })
  const { mode, problem } = openingMode({
    asked: options.mode,
    kept: conversation.views.context.session?.mode,
    configured: settings.permissions.mode,
    canAsk: askPermission !== undefined,
  })
  const unusable = ruleProblems(state.policy, tools)
  const agent = new Agent({
    conversation,
    model,
    toolset: {
      ...toolset,
      get tools() {
        return [...tools, ...later.tools()]
      },
    },
    memory: agentMemory,
    duringCommand,
    dreaming,
    state,
    runHooks,
    instructions,
    clock,
    telemetry,
    askPermission,
    companions,
    isSubAgent: sub !== undefined,
    purse,
    costLimit: options.costLimit,
    isAutonomous: options.autonomous === true,
    slot,
    keeper: keepsWarm ? new CacheKeeper({ conversation, model, clock }) : undefined,
    startedBy: options.startedBy ?? "startup",
    closing,
    leftOut: () => [
      ...problems,
      ...(ground.loaded.problems ?? []),
      ...unusable,
      ...memoryProblems(ground, tools),
      ...instructions.problems,
      ...(problem === undefined ? [] : [problem]),
    ],
  })
  try {
    await state.setMode(mode)
    await agent.start()
    return agent
  } catch (error) {
    await conversation.close()
    throw error
  }
}

interface RecallWanted {
  /** Everything is switched off. */
  readonly off: boolean
  readonly mayRecall: boolean
  readonly rerank: Rerank | undefined
}

/**
 * Every agent can look up its own past. The tool is there from the start, because a list of tools that changes costs the cache. One of yours
 * with its name takes its place. An agent that works for another one has it only where its definition allows it.
 */
function withRecall(toolset: Required<OpenToolset>, { off, mayRecall, rerank }: RecallWanted): Required<OpenToolset> {
  const isTaken = toolset.tools.some(({ name, useIn }) => name === RECALL_TOOL && !useIn)
  if (off || isTaken || !mayRecall) return toolset
  // an agent that shares the tools of another one has a past of its own
  const others = toolset.tools.filter(({ name }) => name !== RECALL_TOOL)
  return { ...toolset, tools: [...others, recallTool(rerank ? { rerank } : {})] }
}

/** The mode is set once the journal is open. */
function policyOf(
  { settings, cwd, root, env, memory, results }: Ground,
  readable: readonly string[],
): PermissionPolicy {
  const { allow = [], ask = [], deny = [] } = settings.permissions
  return {
    mode: "ask",
    ...{ allow, ask, deny },
    project: cwd,
    kept: [root, ...(memory?.kind === "agent" && memory.directory ? [dirname(memory.directory)] : [])],
    ...(memory ? memoryRights(memory) : {}),
    readable: [results, ...readable],
    ...(env.HOME ? { home: env.HOME } : {}),
  }
}

/** Where layer 1 puts aside a sub-agent's large results. */
const putAside = (root: string, { project, under }: SubAgentPlace): string =>
  join(journalDirectory(root, { project, under }), "tool-results")

const readingOf = (path: string): Request => ({
  tool: "Read",
  isReadOnly: true,
  question: { kind: "read", summary: `read ${path}`, paths: [path] },
})

const layersOf = (
  { layers, makeLayers = defaultLayers }: AgentOptions,
  surroundings: LayerSurroundings,
): readonly Layer[] => layers ?? makeLayers(surroundings)

/** Nothing in it changes by itself: date and mode are said in messages. */
const systemPrompt = (cwd: string, prompt = codingPrompt()): string =>
  `${prompt}\n\nWorking directory: ${cwd}\nPlatform: ${process.platform}`

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]])) as Pick<T, K>
}
