/** `@strata/core/sync`. Memories of two machines brought together, for `strata sync`. */
import "../base/node-version.ts"

export type { RemoteTrust } from "../memory/sync/decide.ts"
export { decodeMemories, encodeMemories } from "../memory/sync/sync-format.ts"
export { NO_MEMORIES, type SyncedMemories } from "../memory/sync/synced-memories.ts"
export { type TakeIn, type TakenIn, type TakenStep, takeIn } from "../memory/sync/take-in.ts"
