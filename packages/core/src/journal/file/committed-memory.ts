/** An agent's memory in the working directory, where it can be committed. It consists of files there, with any store. */
import { type Clock, systemClock } from "../../base/clock.ts"
import type { MemoryFiles } from "../memory-files.ts"
import { memoryNamespaceDirectory } from "./layout.ts"
import { memoryDirectory } from "./memory-directory.ts"

/** An agent's memory in the repository whose root is `directory`. */
export interface CommittedMemoryNamespace {
  readonly agent: string
  readonly scope: "project"
  readonly directory: string
}

/** The memory files that a custom store returns for such a namespace. */
export const committedMemory = (namespace: CommittedMemoryNamespace, clock: Clock = systemClock): MemoryFiles =>
  memoryDirectory({ clock, ...memoryNamespaceDirectory("", namespace) })
