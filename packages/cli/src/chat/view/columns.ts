/** How wide the window is, found out once for the whole screen: hundreds of items that each listen for its changes would be too many. */
import { createContext, useContext } from "react"

const USUAL = 80

export const ColumnsContext = createContext(USUAL)
export const useColumns = (): number => useContext(ColumnsContext)
