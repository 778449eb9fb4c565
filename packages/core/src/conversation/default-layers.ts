/** The layers a conversation runs by default, cheapest first. Each has a switch. */

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

/** What the layers of an agent work with: its model, its tools, and its surroundings. */
export interface LayerSurroundings
  extends Omit<ForkParent, "request" | "openCalls">,
    Pick<
      CompactionOptions,
      "summariser" | "offline" | "hooks" | "guidance" | "excluded" | "mayRead" | "autonomous" | "timing"
    > {
  /** The directory of a custom template and prompt for notes. */
  readonly notesConfig?: string
  /** The reads that forks start with. Default: `reads`. */
  readonly readsInView?: ReadState
  /** The memory of the project, or of a sub-agent. Absent where it is off. */
  readonly memory?: ProjectMemory
  /** The sum of the day that notes count into. Default: that of the memory. */
  readonly daily?: DailyBudget
  /** Proposes memories in place of a fork of the conversation. */
  readonly extractMemories?: ExtractMemories
  /** False in a sub-agent: it shares its parent's cache, and must not delete in it. Default true. */
  readonly isMain?: boolean
  /** The cache is kept warm in pauses. */
  readonly keepsWarm?: boolean
  /** Consolidates the memory in the background. Absent where nothing may be written. */
  readonly dreaming?: DreamController
  /** Shows a memory before it is written, and asks. Missing where no one can be asked. */
  readonly confirmMemory?: ConfirmMemory
}

export function defaultLayers(surroundings: LayerSurroundings): readonly Layer[] {
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
  const notes = sessionMemory({ ...parent, ...notesParts(daily, notesConfig), ...wishesOf(rest) })
  const compacts = compaction({ offline: offline(), reads, notes, ...rest, ...(isOffline(model) ? {} : { parent }) })
  return [
    toolResultStorage({ limitsItself, shortResults, onOffload: forget }),
    microcompaction({ onCleared: forget, isMain, ...nextOf(compacts) }),
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

const wishesOf = ({ guidance }: Pick<CompactionOptions, "guidance">) => (guidance ? { guidance } : {})

/** Clearing asks whether a compaction comes anyway. */
const nextOf = ({ upcoming }: Compactor) => (upcoming ? { compacts: upcoming } : {})

type MemoryParts = Pick<Parameters<typeof autoMemory>[0], "access" | "extract" | "requests" | "confirm">

/** It comes after compaction: what it attaches must follow a boundary made for the same request. */
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

/** What the agent can do in the memory directory with its own tools. */
function accessOf(tools: readonly Tool[]): MemoryParts["access"] {
  const has = (name: string) => tools.some((tool) => tool.name === name)
  return has("Write") || has("Edit") ? "write" : has("Read") ? "read" : "none"
}

export interface OwnLoop {
  /** Asked for notes and summaries. It reads what your own requests wrote to the server's cache. Without a client or a key: the offline model. */
  readonly model: Model
  readonly clock: Clock
  /** True if requests are sent with `client.beta.messages`: the server may then be asked to clear old results. */
  readonly serverClears?: boolean
  /** False if the loop places its own cache breakpoints: then it chooses how long they live. Default true. */
  readonly cacheBreakpoints?: boolean
  /** The directory of a custom template and prompt for notes. */
  readonly notesConfig?: string
  /** The memory of the project. Absent where it is off. */
  readonly memory?: ProjectMemory
  /** Who writes summaries by a direct call, what they should focus on, and which files may be read again. */
  readonly compaction?: Pick<CompactionOptions, "summariser" | "guidance" | "excluded" | "mayRead">
}

/** The layers for a loop of your own: your SDK, your tools. Notes come as text, because your tools run in your loop. */
export function ownLoopLayers(loop: OwnLoop): readonly Layer[] {
  const { model, clock, serverClears = false, cacheBreakpoints = true, notesConfig, memory, compaction: given } = loop
  const parent = { model, ...withoutTools(clock) }
  const notes = sessionMemory({ ...parent, ...notesParts(dailyOf(memory), notesConfig), ...wishesOf(given ?? {}) })
  const compacts = compaction({ offline: offline(), notes, ...given, ...(isOffline(model) ? {} : { parent }) })
  return [
    toolResultStorage(),
    microcompaction({ serverClears, ...nextOf(compacts) }),
    notes,
    compacts,
    ...(cacheBreakpoints ? [cacheLifetimes()] : []),
    ...memoryLayer(memory, { access: "none", extract: forkExtraction(parent), requests: isOffline(model) ? 0 : 1 }),
  ]
}
