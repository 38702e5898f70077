//! `#[derive(Pack)]`.
use proc_macro::TokenStream;
/// Derives `Pack`.
#[proc_macro_derive(Pack, attributes(pack))]
pub fn derive_pack(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}
