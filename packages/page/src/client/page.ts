/** The script of every page. Pages work without it; it updates them, opens folded blocks, and asks before changes. */
import { listenForActions } from "./actions.ts"
import { listenToCharts } from "./chart.ts"
import { followEvents } from "./live.ts"
import { scrollRows } from "./rows.ts"

listenForActions()
listenToCharts()
const rows = scrollRows()
followEvents((state) => rows?.grown(state.rows))
