/** An agent's memory in a working directory, where it can be committed. It is kept in files there with any store. */
import { type Clock, systemClock } from "../../base/clock.ts"
import type { MemoryFiles } from "../memory-files.ts"
import { memoryNamespaceDirectory } from "./layout.ts"
import { memoryDirectory } from "./memory-directory.ts"

/** An agent's memory in the repository that this directory is the root of. */
export interface CommittedMemoryNamespace {
  readonly agent: string
  readonly scope: "project"
  readonly directory: string
}

/** What a store of your own gives for such a place. */
export const committedMemory = (namespace: CommittedMemoryNamespace, clock: Clock = systemClock): MemoryFiles =>
  memoryDirectory({ clock, ...memoryNamespaceDirectory("", namespace) })
