/** The menu below the input line. */
import { Box } from "ink"
import type { ReactNode } from "react"
import type { MenuRow } from "../menu-rows.ts"
import { h } from "./element.ts"
import { Text } from "./text.ts"
import { useTheme } from "./theme.ts"

export function MenuBox({ rows }: { readonly rows: readonly MenuRow[] }): ReactNode {
  const { accent, quiet } = useTheme()
  return h(
    Box,
    { flexDirection: "column", flexShrink: 0 },
    rows.map(({ text, isSelected }, i) =>
      h(Text, { key: i, ...(isSelected ? accent : quiet), wrap: "truncate-end" }, text),
    ),
  )
}
