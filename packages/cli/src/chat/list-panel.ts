/** A list that stays open: choosing a row enters it, and leaving the row shows the list again. */
import type { CommandTarget } from "./command-target.ts"
import type { DialogOption } from "./dialog.ts"

export interface ListPanel<Row> {
  /** Called each time the list is shown. */
  rows(): readonly Row[] | Promise<readonly Row[]>
  title(rows: readonly Row[]): string
  option(row: Row): DialogOption
  enter(row: Row): Promise<void>
  /** Notice if there are no rows. */
  readonly empty: string
}

export async function showList<Row>(target: CommandTarget, panel: ListPanel<Row>): Promise<void> {
  let selected = 0
  for (;;) {
    const rows = await panel.rows()
    if (rows.length === 0) return target.notice(panel.empty)
    const answer = await target.ask({
      title: panel.title(rows),
      options: rows.map((row) => panel.option(row)),
      selected: Math.min(selected, rows.length - 1),
    })
    if (answer.type === "dismissed") return
    selected = answer.index
    await panel.enter(rows[selected]!)
  }
}

/** Asks for confirmation before something is stopped or removed. */
export async function confirmAction(target: CommandTarget, title: string, yes: string): Promise<boolean> {
  const answer = await target.ask({
    title,
    options: [
      { label: yes, letter: "y" },
      { label: "No", letter: "n" },
    ],
  })
  return answer.type === "chosen" && answer.index === 0
}
