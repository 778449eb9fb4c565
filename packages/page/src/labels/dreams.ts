/** Describes a dream, for screens and pages. */

import { pluralize } from "@strata/core/base"
import type { DreamState } from "@strata/core/memory"

/** `updating, 12 tool uses, 3 files` */
export function dreamProgress({ phase, toolUses, files }: Pick<DreamState, "phase" | "toolUses" | "files">): string {
  return [phase, pluralize(toolUses, "tool use"), pluralize(files.length, "file")].join(", ")
}
