export async function mount(root) { root.append("soon"); }
