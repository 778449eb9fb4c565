/** The environment on which all parts of an agent depend: directories, settings, models, store and memory. */
import { realpath } from "node:fs/promises"
import { join, resolve } from "node:path"
import { type Clock, randomIds, systemClock, validateId } from "../base/clock.ts"
import { errorReason } from "../base/errors.ts"
import { repositoryRoot } from "../base/git.ts"
import { InvalidOptionError } from "../base/options.ts"
import { type MemoryOption, type Owner, ownerOption } from "../base/owner.ts"
import type { Project } from "../base/project.ts"
import { createTelemetry, type Telemetry } from "../base/telemetry.ts"
import {
  followed,
  type MemoryDependencies,
  memoryFor,
  openAgentMemory,
  type ProjectMemory,
} from "../conversation/project-memory.ts"
import { resolveConversationNamespace } from "../conversation/resolve-namespace.ts"
import { projectDirectory, strataDirectory } from "../journal/file/layout.ts"
import { resolveProject } from "../journal/resolve-project.ts"
import type { Store } from "../journal/store.ts"
import { storeFrom } from "../journal/store-from.ts"
import { chooseModel, isReachable } from "../model/choose-model.ts"
import type { Model } from "../model/model.ts"
import type { EffectiveSettings, Settings } from "../settings/settings.ts"
import type { SubAgentContext } from "./loop/agent-links.ts"
import type { SingleAgentOptions } from "./options.ts"

export interface AgentEnvironment {
  readonly cwd: string
  readonly root: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly loaded: EffectiveSettings
  readonly settings: Settings
  readonly model: Model
  readonly summariser: Model | undefined
  readonly store: Store
  /** Id of the conversation. */
  readonly id: string
  readonly owner: Owner | undefined
  readonly project: Project
  /** Namespace of the conversation in the store. For a sub-agent, that of its lead. */
  readonly namespace: string
  /** Directory for long outputs, which can be read without permission. */
  readonly results: string
  readonly memory: ProjectMemory | undefined
}

export async function createAgentEnvironment(
  options: SingleAgentOptions,
  loaded: EffectiveSettings,
  sub?: SubAgentContext,
): Promise<AgentEnvironment> {
  const { clock = systemClock, client, summariser } = options
  const env = { ...loaded.environment, ...(options.env ?? process.env) }
  const cwd = await realDirectory(options.cwd ?? process.cwd())
  // permissions are checked by real paths, and no other name may give access to the store
  const root = await followed(resolve(options.dir ?? strataDirectory(env)))
  const { values } = loaded
  const store = storeFrom({ store: options.store, dir: root, env, flush: values.flush, clock })
  const owner = ownerOption(options.memory)
  const id = options.id ?? (options.ids ?? randomIds).uuid()
  const project = await resolveProject({ ...{ cwd, env, root, store, settings: values }, project: options.project })
  const namespace = sub?.namespace ?? (await resolveConversationNamespace({ store, project, owner, id: options.id }))
  const source = { env, models: values.models, cacheLifetime: values.cacheLifetime }
  const model = await chooseModel({ ...source, model: options.model, client })
  // a summariser that is not an id has its own client
  const shared = typeof summariser === "string" ? client : undefined
  return {
    cwd,
    root,
    env,
    clock,
    telemetry: createTelemetry({ exportContent: values.exportContent, clock }),
    loaded,
    settings: values,
    model,
    store,
    ...{ id, owner, project, namespace },
    results: resultsDirectory({ root, namespace, owner, conversation: sub?.leadId ?? id }),
    memory: await openMemory(
      options.memory,
      { ...{ store, settings: loaded, cwd, project, clock, env, root }, isForTools: mayWorkOnFiles(options.tools) },
      sub,
    ),
    summariser: summariser
      ? await chooseModel({ ...source, model: summariser, client: shared })
      : await configuredSummariser(values, model, { ...source, client }),
  }
}

interface ResultsLocation extends Pick<AgentEnvironment, "root" | "namespace" | "owner"> {
  readonly conversation: string
}

/** Directory for tool results. Conversations of one owner share it; without an owner, each conversation has its own. */
function resultsDirectory({ root, namespace, owner, conversation }: ResultsLocation): string {
  const all = join(projectDirectory(root, namespace), "tool-results")
  return owner === undefined ? join(all, validateId("conversation id", conversation)) : all
}

/**
 * The summariser from the settings, with the agent's own client if possible. If it is not reachable, the agent's model writes the
 * summaries.
 */
async function configuredSummariser(
  { summariserModel: model }: Settings,
  own: Model,
  source: Omit<Parameters<typeof chooseModel>[0], "model">,
): Promise<Model | undefined> {
  if (model === undefined) return undefined
  return own.sibling?.(model) ?? (isReachable({ ...source, model }) ? chooseModel({ ...source, model }) : undefined)
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["Read", "Write", "Edit"])

/** Whether the tools may include file tools. The content of a toolset is unknown until it is opened. */
const mayWorkOnFiles = (tools: SingleAgentOptions["tools"] = []): boolean =>
  [...tools].some((tool) => !("name" in tool) || FILE_TOOLS.has(tool.name))

/** Opens the memory. A sub-agent has its own memory or none. */
async function openMemory(
  memory: MemoryOption | undefined,
  ground: MemoryDependencies,
  sub: SubAgentContext | undefined,
): Promise<ProjectMemory | undefined> {
  const { store, cwd, clock, settings } = ground
  const code = repositoryRoot(cwd)
  if (!sub) return memoryFor(memory, { ...ground, code })
  const { memory: memoryNamespace, namespace: project } = sub
  return (
    memoryNamespace &&
    openAgentMemory({ store, cwd, clock, code, namespace: memoryNamespace, project, mode: settings.values.memory })
  )
}

/** Real path of the project's directory. Throws if it does not exist. */
export async function realDirectory(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    throw new InvalidOptionError(
      "cwd",
      `The option "cwd" of openAgent() must be a directory that exists, not ${JSON.stringify(path)} (${errorReason(error)}).`,
    )
  }
}
