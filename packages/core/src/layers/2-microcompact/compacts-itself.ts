/** Whether a window that is full will be compacted by itself: it may be, some layer can, and it was not given up after failures (L4-3). */
import type { Turn } from "../layer.ts"

type Question = Pick<Turn, "compaction" | "views" | "flags">

export async function compactsItself({ compaction, views, flags }: Question): Promise<boolean> {
  return compaction.auto && views.compactions.failures < (await flags.figure("compact-failures"))
}
