/** The `Session` of the OpenAI Agents SDK, by its shape. The names are the SDK's. Items are the SDK's own: they come back as they were given. */

export interface StrataSession {
  getSessionId(): Promise<string>
  /** With a limit: the newest ones. */
  getItems<Item = unknown>(limit?: number): Promise<Item[]>
  addItems(items: readonly unknown[]): Promise<void>
  /** Takes the newest item back. It stays in the journal. */
  popItem<Item = unknown>(): Promise<Item | undefined>
  /** Takes all items back. They stay in the journal. */
  clearSession(): Promise<void>
  /** These items take the place of all, in one step. */
  replaceHistoryWithCompaction(items: readonly unknown[]): Promise<void>
  /** A change that is made once, however often it is asked for. */
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
