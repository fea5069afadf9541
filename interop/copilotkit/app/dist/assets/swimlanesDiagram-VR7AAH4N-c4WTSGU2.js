import{r as e,t}from"./chunk-SHT3W25Y-DFohuChL.js";import"./chunk-POPQ4Y6H-BCIzvX1k.js";import{dr as n}from"./mermaid.core-CTDqtskV.js";import"./chunk-F27PBJKO-Bxm-mYu9.js";var r=t({defaultLayout:`swimlane`,styles:n(t=>`${e(t)}
  .swimlane.cluster rect {
    stroke: ${t.clusterBorder} !important;
  }
  [data-look="neo"].cluster rect {
    filter: none;
  }
`,`getStyles`)});export{r as diagram};