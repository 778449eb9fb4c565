/** The default layers of a conversation, cheapest first. Each has a flag. */

import type { Clock } from "../base/clock.ts"
import { type ForkParent, withoutTools } from "../forks/fork.ts"
import type { DailyBudget } from "../journal/store.ts"
import { toolResultStorage } from "../layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../layers/2-microcompact/microcompaction.ts"
import { sessionMemory } from "../layers/3-session-memory/session-memory.ts"
import { compaction } from "../layers/4-compaction/compaction.ts"
import type { CompactionOptions } from "../layers/4-compaction/options.ts"
import { offline } from "../layers/4-compaction/summarise/route.ts"
import { autoMemory } from "../layers/5-auto-memory/auto-memory.ts"
import { type ExtractMemories, forkExtraction } from "../layers/5-auto-memory/extract/extraction.ts"
import type { ConfirmMemory } from "../layers/5-auto-memory/save/save.ts"
import type { DreamController } from "../layers/6-dreaming/dreaming.ts"
import { dreamingLayer } from "../layers/6-dreaming/dreaming-layer.ts"
import type { Compactor, Layer } from "../layers/layer.ts"
import { cacheLifetimes } from "../layers/planner/lifetime.ts"
import { isOffline, type Model } from "../model/model.ts"
import { forgetCalls } from "../tools/files/read-state.ts"
import type { ReadState, Tool } from "../tools/tool.ts"
import { dailyOf, type ProjectMemory } from "./project-memory.ts"

/** Dependencies of an agent's layers: its model, its tools, and its context. */
export interface LayerDependencies
  extends Omit<ForkParent, "request" | "openCalls">,
    Pick<
      CompactionOptions,
      "summariser" | "offline" | "hooks" | "guidance" | "excluded" | "mayRead" | "autonomous" | "timing"
    > {
  /** Directory with a custom template and prompt for notes. */
  readonly notesConfig?: string
  /** Reads with which forks start. Default: `reads`. */
  readonly readsInView?: ReadState
  /** Memory of the project, or of a sub-agent. Absent if it is off. */
  readonly memory?: ProjectMemory
  /** Daily budget that notes count towards. Default: that of the memory. */
  readonly daily?: DailyBudget
  /** Replaces a fork of the conversation in proposing memories. */
  readonly extractMemories?: ExtractMemories
  /** `false` for a sub-agent, which shares its parent's cache and must not delete in it. Default: true. */
  readonly isMain?: boolean
  /** Whether the cache is kept warm during pauses. */
  readonly keepsWarm?: boolean
  /** Consolidates the memory in the background. Absent if nothing may be written. */
  readonly dreaming?: DreamController
  /** Asks the user before a memory is written. Absent if nobody can be asked. */
  readonly confirmMemory?: ConfirmMemory
}

export function defaultLayers(surroundings: LayerDependencies): readonly Layer[] {
  const {
    model,
    tools,
    reads,
    toolContext,
    notesConfig,
    readsInView = reads,
    memory,
    daily = dailyOf(memory),
    confirmMemory,
    extractMemories,
    dreaming,
    keepsWarm = false,
    isMain = true,
    ...rest
  } = surroundings
  const forget = (toolUseIds: readonly string[]) => forgetCalls(reads, new Set(toolUseIds))
  const limitsItself = tools.filter((tool) => tool.limitsItself).map(({ name }) => name)
  const shortResults = new Map(tools.flatMap(({ name, shortResult: max }) => (max === undefined ? [] : [[name, max]])))
  const parent = { model, tools, reads: readsInView, toolContext }
  const notes = sessionMemory({ ...parent, ...notesParts(daily, notesConfig), ...guidanceOption(rest) })
  const compacts = compaction({ offline: offline(), reads, notes, ...rest, ...(isOffline(model) ? {} : { parent }) })
  return [
    toolResultStorage({ limitsItself, shortResults, onOffload: forget }),
    microcompaction({ onCleared: forget, isMain, ...compactionOption(compacts) }),
    notes,
    compacts,
    cacheLifetimes({ keepsWarm }),
    ...memoryLayer(memory, {
      access: accessOf(tools),
      extract: extractMemories ?? forkExtraction({ ...parent, ...(rest.mayRead ? { mayRead: rest.mayRead } : {}) }),
      requests: extractMemories || isOffline(model) ? 0 : 2,
      ...(confirmMemory ? { confirm: confirmMemory } : {}),
    }),
    ...(dreaming ? [dreamingLayer(dreaming, memory)] : []),
  ]
}

const notesParts = (daily: DailyBudget | undefined, configDirectory: string | undefined) => ({
  ...(configDirectory === undefined ? {} : { configDirectory }),
  ...(daily ? { daily } : {}),
})

const guidanceOption = ({ guidance }: Pick<CompactionOptions, "guidance">) => (guidance ? { guidance } : {})

/** Lets clearing check whether a compaction is coming anyway. */
const compactionOption = ({ upcoming }: Compactor) => (upcoming ? { compacts: upcoming } : {})

type MemoryParts = Pick<Parameters<typeof autoMemory>[0], "access" | "extract" | "requests" | "confirm">

/** The memory layer. It runs after compaction, because its attachments must follow a boundary made for the same request. */
function memoryLayer(memory: ProjectMemory | undefined, parts: MemoryParts): readonly Layer[] {
  if (!memory) return []
  const { recall, mode, directory, files: _, ...rest } = memory
  const isReadOnly = mode === "read-only"
  const access = directory === undefined ? "none" : isReadOnly && parts.access === "write" ? "read" : parts.access
  return [
    autoMemory({
      ...rest,
      ...parts,
      mode,
      access,
      recall: { recall },
      ...(directory === undefined ? {} : { directory }),
    }),
  ]
}

/** Access of the agent's own tools to the memory directory. */
function accessOf(tools: readonly Tool[]): MemoryParts["access"] {
  const has = (name: string) => tools.some((tool) => tool.name === name)
  return has("Write") || has("Edit") ? "write" : has("Read") ? "read" : "none"
}

export interface CustomLoop {
  /**
   * Model for notes and summaries. It reads what your own requests wrote to the server's cache. Without a client or a key, it is the
   * offline model.
   */
  readonly model: Model
  readonly clock: Clock
  /** Whether requests are sent with `client.beta.messages`, so that the server can be asked to clear old results. */
  readonly serverClears?: boolean
  /** `false` if the loop places its own cache breakpoints and so chooses their lifetime. Default: true. */
  readonly cacheBreakpoints?: boolean
  /** Directory with a custom template and prompt for notes. */
  readonly notesConfig?: string
  /** Memory of the project. Absent if it is off. */
  readonly memory?: ProjectMemory
  /** Options of compaction: the summariser, the focus of summaries, and the files that may be read again. */
  readonly compaction?: Pick<CompactionOptions, "summariser" | "guidance" | "excluded" | "mayRead">
}

/** Layers for a custom loop with its own SDK and tools. Notes are returned as text, because the loop runs the tools. */
export function customLoopLayers(loop: CustomLoop): readonly Layer[] {
  const { model, clock, serverClears = false, cacheBreakpoints = true, notesConfig, memory, compaction: given } = loop
  const parent = { model, ...withoutTools(clock) }
  const notes = sessionMemory({
    ...parent,
    ...notesParts(dailyOf(memory), notesConfig),
    ...guidanceOption(given ?? {}),
  })
  const compacts = compaction({ offline: offline(), notes, ...given, ...(isOffline(model) ? {} : { parent }) })
  return [
    toolResultStorage(),
    microcompaction({ serverClears, ...compactionOption(compacts) }),
    notes,
    compacts,
    ...(cacheBreakpoints ? [cacheLifetimes()] : []),
    ...memoryLayer(memory, { access: "none", extract: forkExtraction(parent), requests: isOffline(model) ? 0 : 1 }),
  ]
}
