/** Opens stores by address: a directory, or a PostgreSQL URL. */
import { stat } from "node:fs/promises"
import { resolve } from "node:path"
import { fileStore, type Store } from "@strata/core"
import { type CommandCall, UsageError } from "../command.ts"
import { escapeToLine } from "../display/visible.ts"
import { isPostgres, loadPostgres } from "../named-store.ts"

export interface AddressedStore {
  readonly store: Store
  /** Unique identity of the store. May contain a password, so it is never shown. */
  readonly identity: string
  /** Sentence that explains how to remove the store's data. */
  readonly removal: string
}

export interface AddressOptions extends Pick<CommandCall, "cwd"> {
  /** Whether a directory must already exist. */
  readonly mustExist: boolean
}

export async function openAddress(address: string, { cwd, mustExist }: AddressOptions): Promise<AddressedStore> {
  if (isPostgres(address)) {
    const { namedPostgresStore } = await loadPostgres()
    const removal =
      "When you no longer need it: STRATA_STORE=(its address) strata store erase --tenant (its tenant, default if you named none)"
    return { store: namedPostgresStore(address.trim()), identity: address.trim(), removal }
  }
  const [scheme] = /^[a-z][a-z0-9+.-]+:(?=\/\/|$)/i.exec(address) ?? []
  if (scheme !== undefined)
    throw new UsageError(
      `"${scheme}" is no store that can be moved. Name a directory, or an address that begins with postgres://.`,
    )
  const root = resolve(cwd, address)
  if (mustExist && !(await stat(root).catch(() => undefined))?.isDirectory())
    throw new UsageError(
      `${escapeToLine(root)} is no directory. Nothing was moved. Name the one that has the folder "projects".`,
    )
  const removal = `When you no longer need it, remove the folders projects, callers and agent-memory in ${escapeToLine(root)}.`
  return { store: fileStore({ root }), identity: root, removal }
}
