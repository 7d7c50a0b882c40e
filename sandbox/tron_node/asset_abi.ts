/** The ABI of a token in the format of getcontract. */
type Part = { name?: string; type: string; indexed?: boolean }

function view(name: string, inputs: readonly Part[], output: string): unknown {
  return { name, inputs, outputs: [{ type: output }], stateMutability: 'View', type: 'Function' }
}

export const asset_abi: readonly unknown[] = [
  view('name', [], 'string'),
  view('symbol', [], 'string'),
  view('decimals', [], 'uint8'),
  view('totalSupply', [], 'uint256'),
  view('balanceOf', [{ name: 'who', type: 'address' }], 'uint256'),
  {
    name: 'transfer',
    inputs: [
      { name: '_to', type: 'address' },
      { name: '_value', type: 'uint256' },
    ],
    outputs: [{ type: 'bool' }],
    stateMutability: 'Nonpayable',
    type: 'Function',
  },
  {
    name: 'Transfer',
    inputs: [
      { indexed: true, name: 'from', type: 'address' },
      { indexed: true, name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
    type: 'Event',
  },
]
