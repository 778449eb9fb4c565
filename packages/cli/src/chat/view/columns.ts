/** The width of the window, measured once for all components: one resize listener instead of hundreds. */
import { createContext, useContext } from "react"

const USUAL = 80

export const ColumnsContext = createContext(USUAL)
export const useColumns = (): number => useContext(ColumnsContext)
