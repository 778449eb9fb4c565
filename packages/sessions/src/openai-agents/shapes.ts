/** The shape of the `Session` of the OpenAI Agents SDK, with the SDK's names. Items are returned as the SDK wrote them. */

export interface StrataSession {
  getSessionId(): Promise<string>
  /** `limit`: returns only the newest items. */
  getItems<Item = unknown>(limit?: number): Promise<Item[]>
  addItems(items: readonly unknown[]): Promise<void>
  /** Removes the newest item, which stays in the journal. */
  popItem<Item = unknown>(): Promise<Item | undefined>
  /** Removes all items, which stay in the journal. */
  clearSession(): Promise<void>
  /** Replaces all items in one step. */
  replaceHistoryWithCompaction(items: readonly unknown[]): Promise<void>
  /** Applies a change once, even if it is requested repeatedly. */
  applyHistoryTransaction(args: HistoryTransactionArgs): Promise<void>
}

export interface HistoryTransactionArgs {
  readonly operationId: string
  readonly transaction: HistoryTransaction
}

export type HistoryTransaction =
  | { readonly type: "append_items"; readonly items: readonly unknown[] }
  | {
      readonly type: "replace_suffix"
      readonly expectedSuffix: readonly unknown[]
      readonly replacement: readonly unknown[]
    }
