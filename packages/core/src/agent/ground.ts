/** What everything else of an agent is built on: its directories, settings, models, store and memory. */
import { realpath } from "node:fs/promises"
import { join, resolve } from "node:path"
import { type Clock, checkedId, randomIds, systemClock } from "../base/clock.ts"
import { reasonOf } from "../base/errors.ts"
import { repositoryRoot } from "../base/git.ts"
import { InvalidOptionError } from "../base/options.ts"
import { type MemoryOption, type Owner, ownerIn } from "../base/owner.ts"
import type { Project } from "../base/project.ts"
import { createTelemetry, type Telemetry } from "../base/telemetry.ts"
import {
  followed,
  type MemoryGround,
  memoryFor,
  openAgentMemory,
  type ProjectMemory,
} from "../conversation/project-memory.ts"
import { placeOfConversation } from "../conversation/whose.ts"
import { projectDirectory, strataDirectory } from "../journal/file/layout.ts"
import type { Store } from "../journal/store.ts"
import { storeFrom } from "../journal/store-from.ts"
import { whichProject } from "../journal/which-project.ts"
import { chooseModel, isReachable } from "../model/choose-model.ts"
import type { Model } from "../model/model.ts"
import type { EffectiveSettings, Settings } from "../settings/settings.ts"
import type { SubAgentPlace } from "./loop/companions.ts"
import type { SingleAgentOptions } from "./options.ts"

export interface Ground {
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
  /** The conversation's id. */
  readonly id: string
  readonly owner: Owner | undefined
  readonly project: Project
  /** Where the store keeps the conversation, or the one that a sub-agent works for. */
  readonly place: string
  /** The directory for long outputs. They can be read without asking. */
  readonly results: string
  readonly memory: ProjectMemory | undefined
}

export async function groundOf(
  options: SingleAgentOptions,
  loaded: EffectiveSettings,
  sub?: SubAgentPlace,
): Promise<Ground> {
  const { clock = systemClock, client, summariser } = options
  const env = { ...loaded.environment, ...(options.env ?? process.env) }
  const cwd = await realDirectory(options.cwd ?? process.cwd())
  // tools are judged by real paths, and nothing of the store may be reached by another name
  const root = await followed(resolve(options.dir ?? strataDirectory(env)))
  const { values } = loaded
  const store = storeFrom({ store: options.store, dir: root, env, flush: values.flush, clock })
  const owner = ownerIn(options.memory)
  const id = options.id ?? (options.ids ?? randomIds).uuid()
  const project = await whichProject({ ...{ cwd, env, root, store, settings: values }, project: options.project })
  const place = sub?.project ?? (await placeOfConversation({ store, project, owner, id: options.id }))
  const source = { env, models: values.models, cacheLifetime: values.cacheLifetime }
  const model = await chooseModel({ ...source, model: options.model, client })
  // a summariser that is no id brings its own client
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
    ...{ id, owner, project, place },
    results: resultsOf({ root, place, owner, conversation: sub?.under ?? id }),
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

interface ResultsPlace extends Pick<Ground, "root" | "place" | "owner"> {
  readonly conversation: string
}

/** Conversations of one owner can read each other's. Without an owner, each has a directory of its own. */
function resultsOf({ root, place, owner, conversation }: ResultsPlace): string {
  const all = join(projectDirectory(root, place), "tool-results")
  return owner === undefined ? join(all, checkedId("conversation id", conversation)) : all
}

/** The model of the setting, through the agent's own client where it has one. Without a key or a client, the agent's own model writes the summaries. */
async function configuredSummariser(
  { summariserModel: model }: Settings,
  own: Model,
  source: Omit<Parameters<typeof chooseModel>[0], "model">,
): Promise<Model | undefined> {
  if (model === undefined) return undefined
  return own.sibling?.(model) ?? (isReachable({ ...source, model }) ? chooseModel({ ...source, model }) : undefined)
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["Read", "Write", "Edit"])

/** What a toolset has is known only when it is open. */
const mayWorkOnFiles = (tools: SingleAgentOptions["tools"] = []): boolean =>
  [...tools].some((tool) => !("name" in tool) || FILE_TOOLS.has(tool.name))

/** An agent that works for another one has its own memory or none. */
async function openMemory(
  memory: MemoryOption | undefined,
  ground: MemoryGround,
  sub: SubAgentPlace | undefined,
): Promise<ProjectMemory | undefined> {
  const { store, cwd, clock, settings } = ground
  const code = repositoryRoot(cwd)
  if (!sub) return memoryFor(memory, { ...ground, code })
  const { memory: place, project } = sub
  return place && openAgentMemory({ store, cwd, clock, code, place, project, mode: settings.values.memory })
}

/** The real path of the project. */
export async function realDirectory(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    throw new InvalidOptionError(
      "cwd",
      `The option "cwd" of openAgent() must be a directory that exists, not ${JSON.stringify(path)} (${reasonOf(error)}).`,
    )
  }
}
