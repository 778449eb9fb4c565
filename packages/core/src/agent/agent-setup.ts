/**
 * Creates the parts of an agent before its conversation opens: tools, policy, hooks, instruction files, memory, layers. Each part depends
 * on earlier ones. Parts that need the conversation get `conversationRef` instead.
 */
import { repositoryRoot } from "../base/git.ts"
import { engineOf } from "../conversation/conversation.ts"
import { defaultLayers } from "../conversation/default-layers.ts"
import type { ConversationRef } from "../conversation/open.ts"
import { notesConfigDirectory } from "../journal/file/layout.ts"
import { compactInstructionsIn } from "../layers/4-compaction/compaction-context.ts"
import type { DreamController } from "../layers/6-dreaming/dreaming.ts"
import { listExchanges } from "../layers/fold/plan.ts"
import type { Layer } from "../layers/layer.ts"
import { claudeMode } from "../settings/claude-settings.ts"
import { createFlags, type FlagReader } from "../settings/flags.ts"
import { type DeferredTools, deferredTools } from "../tools/deferred/deferred-tools.ts"
import { FileReads, readsInView } from "../tools/files/read-state.ts"
import { snipTool } from "../tools/session/snip.ts"
import type { OpenToolset, ReadState, Tool } from "../tools/tool.ts"
import type { AgentEnvironment } from "./agent-environment.ts"
import { AgentMemory, confirmWithUser } from "./agent-memory.ts"
import { commandHooks } from "./hooks/hook-command.ts"
import { compactionHooks, createHookRunner, hookReports, type RunHooks } from "./hooks/hooks.ts"
import { InstructionWatch } from "./instructions/instruction-watch.ts"
import type { SubAgentContext } from "./loop/agent-links.ts"
import { AgentState } from "./loop/agent-state.ts"
import { toolsInView } from "./loop/pending-notices.ts"
import { type DuringCommand, withMemoryWrites } from "./memory-writes.ts"
import type { MeteredModels } from "./metered-models.ts"
import type { SingleAgentOptions } from "./options.ts"
import { initialPolicy, readRequest } from "./permissions/initial-permissions.ts"
import { isInside, judge, type PermissionPolicy } from "./permissions/permissions.ts"
import { projectDreams } from "./project-dreams.ts"

/** Input of every setup step. */
export interface AgentSetupInput {
  readonly options: SingleAgentOptions
  readonly ground: AgentEnvironment
  readonly sub: SubAgentContext | undefined
  readonly conversationRef: ConversationRef
  readonly models: MeteredModels
  readonly toolset: Required<OpenToolset>
}

export interface AgentSetup extends AgentSetupInput {
  readonly flags: FlagReader
  /** Messages about refused flag values. */
  readonly notices: string[]
  readonly reads: ReadState
  readonly state: AgentState
  /** Aborts running queries and hooks when the agent closes. */
  readonly closing: AbortController
  readonly runHooks: RunHooks
  readonly instructions: InstructionWatch
  readonly memory: AgentMemory
  readonly duringCommand: DuringCommand
  /** Tools of the toolset, wrapped for memory writes. */
  readonly wrappedTools: readonly Tool[]
  readonly deferred: DeferredTools | undefined
  /** All tools, including the two that load and call deferred ones. */
  readonly tools: readonly Tool[]
  readonly dreaming: DreamController | undefined
  /** Whether the cache is kept warm during pauses. */
  readonly keepsWarm: boolean
  readonly layers: readonly Layer[]
}

export async function setUpAgent(given: AgentSetupInput): Promise<AgentSetup> {
  const { options, ground, sub, conversationRef, models } = given
  const { reads = new FileReads(), promptUser, approvePlan } = options
  const { flags, notices } = createAgentFlags(given)
  const base = { ...given, toolset: await withSnip(given, flags) }
  const { tools: opened, readable, later } = base.toolset
  const policy = initialPolicy(ground, readable, sub)
  const inView = readsInView(reads, (toolUseId) =>
    engineOf(conversationRef.conversation).views.context.shows(toolUseId),
  )
  const state = new AgentState({
    ...{
      ground: sub ? withoutAgents(ground) : ground,
      policy,
      reads: inView,
      within: sub?.leadPolicy,
      conversationRef,
    },
    ...(promptUser ? { promptUser } : {}),
    ...(approvePlan ? { approvePlan } : {}),
  })
  const closing = new AbortController()
  const runHooks = sessionHooks(base, { state, closing: closing.signal })
  const instructions = await watchInstructions(ground, { policy, reads, runHooks })
  const memory = new AgentMemory(ground, conversationRef)
  // a sub-agent's commands can also change the memory of the project
  const duringCommand: DuringCommand =
    sub?.duringCommand ?? ((run, isOpenEnded) => memory.duringCommand(run, isOpenEnded))
  const wrappedTools = withMemoryWrites(opened, {
    ...(ground.memory?.directory === undefined ? {} : { directory: ground.memory.directory }),
    write: (file, write) => memory.runWrite(file, write),
    duringCommand,
  })
  const deferred = deferredTools(
    wrappedTools,
    () => toolsInView(engineOf(conversationRef.conversation).views.context),
    later,
  )
  const tools = deferred ? [...wrappedTools, deferred.search, deferred.call] : wrappedTools
  const dreaming = createDreams(base, state)
  // no user waits for a batch run or a sub-agent
  const keepsWarm = options.keepWarm === true && !options.autonomous && !sub && models.model.warm !== undefined
  const layers = createAgentLayers(base, { tools, reads, inView, state, runHooks, instructions, dreaming, keepsWarm })
  return {
    ...base,
    ...{ flags, notices, reads, state, closing, runHooks, instructions },
    ...{ memory, duringCommand, wrappedTools, deferred, tools, dreaming, keepsWarm, layers },
  }
}

/** Turns agents off for programs that a sub-agent starts, including Strata. */
const withoutAgents = (ground: AgentEnvironment): AgentEnvironment => ({
  ...ground,
  env: { ...ground.env, STRATA_AGENTS: "off" },
})

function createAgentFlags({ options, ground, models }: AgentSetupInput): Pick<AgentSetup, "flags" | "notices"> {
  const notices: string[] = []
  const flags = createFlags({
    ...{ settings: ground.settings, context: { targetingKey: ground.id, model: models.model.name } },
    onRefused: (message) => notices.push(message),
    ...(options.flags ? { client: options.flags } : {}),
  })
  return { flags, notices }
}

/** Adds the Snip tool if it is enabled. It costs tokens in every request, and a sub-agent has nobody to ask. */
async function withSnip(
  { toolset, sub, conversationRef }: AgentSetupInput,
  flags: FlagReader,
): Promise<Required<OpenToolset>> {
  const { on } = await flags.read(toolset.tools.map(({ name }) => name))
  if (sub || !on.snip || !on["snip-tool"]) return toolset
  const snip = snipTool({
    exchanges: () => listExchanges(engineOf(conversationRef.conversation).context()),
    snip: (range) => conversationRef.conversation.snip(range),
  })
  return { ...toolset, tools: [...toolset.tools, snip] }
}

interface HookSessionInput {
  readonly state: AgentState
  readonly closing: AbortSignal
}

function sessionHooks(
  { options, ground, sub, conversationRef }: AgentSetupInput,
  { state, closing }: HookSessionInput,
): RunHooks {
  const { settings, env, cwd } = ground
  return createHookRunner({
    hooks: [...(options.hooks ?? []), ...commandHooks(settings.hooks, { ...env, CLAUDE_PROJECT_DIR: cwd })],
    session: () => {
      const { id, location } = conversationRef.conversation
      return {
        session_id: sub?.leadId ?? id,
        transcript_path: sub?.leadLocation ?? location,
        cwd: state.directory,
        permission_mode: claudeMode(state.policy.mode),
        ...(sub ? { agent_id: sub.id, agent_type: sub.type, agent_transcript_path: location } : {}),
      }
    },
    closing,
  })
}

interface InstructionDependencies {
  readonly policy: PermissionPolicy
  readonly reads: ReadState
  readonly runHooks: RunHooks
}

function watchInstructions(
  { clock, root, cwd, env }: AgentEnvironment,
  { policy, reads, runHooks }: InstructionDependencies,
): Promise<InstructionWatch> {
  return InstructionWatch.start({
    clock,
    home: root,
    project: repositoryRoot(cwd, { home: env.HOME }),
    cwd,
    ...(env.HOME ? { userHome: env.HOME } : {}),
    onShown: ({ path, text, modifiedMs }) => {
      if (reads.get(path)?.content !== text)
        reads.set(path, { content: text, modifiedMs, at: clock.now().toISOString() })
    },
    // an abort ends the hook, and loading continues
    onLoaded: (path, reason) =>
      runHooks("InstructionsLoaded", { eventFields: { file_path: path, load_reason: reason } }).then(
        hookReports,
        () => [],
      ),
    // deny and ask rules apply in every mode; whether a location is allowed depends on the owner of the import
    mayRead: (path) => judge(readRequest(path), { ...policy, mode: "ask", readable: ["/"] }).verdict === "allow",
  })
}

/** Creates the dream controller. Only the project's memory is consolidated, not that of a sub-agent. */
function createDreams({ ground, models }: AgentSetupInput, state: AgentState): DreamController | undefined {
  const { memory, cwd, clock, env } = ground
  if (memory?.kind !== "project") return undefined
  return projectDreams({
    ...{ memory, project: cwd, clock, env, model: models.summariser ?? models.model },
    confinement: () => state.confinement(),
    rules: (tool, question) => {
      const policy = { ...state.policy, mode: "ask" as const, readable: ["/"] } // readable locations are already restricted
      const { verdict, why } = judge({ tool, question, isReadOnly: true }, policy)
      return verdict === "allow" || `${why}.`
    },
  })
}

type LayerInput = Pick<AgentSetup, "tools" | "reads" | "state" | "runHooks" | "instructions" | "dreaming" | "keepsWarm">

function createAgentLayers(
  { options, ground, models, sub }: AgentSetupInput,
  { inView, state, runHooks, instructions, dreaming, ...parts }: LayerInput & { readonly inView: ReadState },
): readonly Layer[] {
  const { makeLayers = defaultLayers, askPermission } = options
  const { settings, root, cwd, memory } = ground
  if (options.layers) return options.layers
  return makeLayers({
    ...parts,
    model: models.model,
    readsInView: inView,
    toolContext: state.toolContext,
    hooks: compactionHooks(runHooks),
    guidance: () => [
      settings.compactInstructions ?? "",
      ...Object.values(instructions.texts).map(compactInstructionsIn),
    ],
    excluded: () => ({ files: instructions.paths, directories: [root] }),
    mayRead: (path) => isInside(path, cwd) && judge(readRequest(path), state.policy).verdict === "allow",
    notesConfig: notesConfigDirectory(root),
    ...(models.summariser ? { summariser: models.summariser } : {}),
    ...(options.autonomous ? { autonomous: true } : {}),
    ...(memory ? { memory } : {}),
    isMain: sub === undefined,
    ...(sub?.daily ? { daily: sub.daily } : {}),
    ...(dreaming ? { dreaming } : {}),
    ...(memory && askPermission ? { confirmMemory: confirmWithUser(askPermission, memory) } : {}),
  })
}
