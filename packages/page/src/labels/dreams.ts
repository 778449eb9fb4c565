/** A dream in words that screens and pages share. */

import { pluralize } from "@strata/core/base"
import type { DreamState } from "@strata/core/memory"

/** `updating, 12 tool uses, 3 files` */
export function dreamProgress({ phase, toolUses, files }: Pick<DreamState, "phase" | "toolUses" | "files">): string {
  return [phase, pluralize(toolUses, "tool use"), pluralize(files.length, "file")].join(", ")
}
