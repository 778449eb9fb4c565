/**
 * Repeats notices after a compaction that an agent repeats if nothing in view contains them: the date, the permission mode, and the rules
 * from memory, each in its last recorded version.
 */

import type { Entry } from "@strata/core"
import type { Attachment, AttachmentKind } from "@strata/core/messages"
import type { EntryDraft } from "@strata/core/store"
import type { ContextView } from "@strata/core/views"

const KINDS: readonly AttachmentKind[] = ["standing_memory", "date", "permission_mode"]

export class RepeatedNotices {
  readonly #last = new Map<AttachmentKind, Attachment>()

  take(entry: Entry): void {
    if (entry.type !== "attachment" || !KINDS.includes(entry.attachment.type)) return
    this.#last.set(entry.attachment.type, entry.attachment)
  }

  /** Notices that the messages in view no longer contain. */
  due(context: ContextView): readonly EntryDraft[] {
    const inView = new Set(
      context.storedMessages().flatMap((message) => (message.type === "attachment" ? message.attachment.type : [])),
    )
    return KINDS.flatMap((kind): EntryDraft[] => {
      const attachment = this.#last.get(kind)
      return attachment === undefined || inView.has(kind) ? [] : [{ type: "attachment", attachment }]
    })
  }
}
