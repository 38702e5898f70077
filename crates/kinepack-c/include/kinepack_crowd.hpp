// Kinepack for C++17: broadcasts. kinepack.hpp includes this file.

#ifndef KINEPACK_CROWD_HPP
#define KINEPACK_CROWD_HPP

#include "kinepack.hpp"

namespace kinepack {

class Catalogue : public Owner<KpCatalogue, kp_catalogue_free> {
 public:
  using Owner::Owner;
  // The tiers that suit most broadcasts.
  Catalogue(uint32_t tick_hz, KpCodec codec) {
    require(kp_catalogue_standard(tick_hz, codec, &handle_));
  }
  Catalogue(uint32_t tick_hz, const std::vector<KpTier> &tiers) {
    require(kp_catalogue_new(tick_hz, tiers.data(), tiers.size(), &handle_));
  }
  // Reads a catalogue from the object of the track "catalogue".
  Catalogue(const void *bytes, size_t size) {
    require(kp_catalogue_from_bytes(static_cast<const uint8_t *>(bytes), size, &handle_));
  }

  std::vector<uint8_t> to_bytes() const {
    size_t size = 0;
    kp_catalogue_to_bytes(handle_, nullptr, 0, &size);
    std::vector<uint8_t> bytes(size);
    require(kp_catalogue_to_bytes(handle_, bytes.data(), bytes.size(), &size));
    return bytes;
  }

  // The tier with a name, or -1.
  int32_t find(const char *name) const {
    uint32_t tier = 0;
    const bool is_there = kp_catalogue_find(handle_, name, &tier) == KP_STATUS_OK;
    return is_there ? static_cast<int32_t>(tier) : -1;
  }
};

class Publisher : public Owner<KpPublisher, kp_publisher_free> {
 public:
  explicit Publisher(KpCatalogue catalogue, const KpPublisherOptions &options = {}) {
    require(kp_publisher_new(catalogue, &options, &handle_));
  }

  // Takes the world of a tick, and passes each due piece to
  // `send(const KpPiece &piece, const uint8_t *bytes, size_t size)`. If `send` throws, that piece
  // is lost, and the next call passes the others.
  template <typename Send>
  KpStatus publish(KpSnapshot world, Send &&send) {
    const KpStatus published = kp_publisher_publish(handle_, world);
    const KpStatus sent = transmit(send);
    return published != KP_STATUS_OK ? published : sent;
  }

  // Passes, after the last world, the pieces to carry at `tick`. Call it at each tick until
  // `is_drained` is true.
  template <typename Send>
  KpStatus drain(uint32_t tick, bool &is_drained, Send &&send) {
    int32_t drained = 0;
    const KpStatus released = kp_publisher_drain(handle_, tick, &drained);
    is_drained = drained != 0;
    const KpStatus sent = transmit(send);
    return released != KP_STATUS_OK ? released : sent;
  }

 private:
  // Passes each piece to `send`.
  template <typename Send>
  KpStatus transmit(Send &send) {
    for (;;) {
      KpPiece piece{};
      size_t size = 0;
      const KpStatus status =
          kp_publisher_poll(handle_, &piece, buffer_.data(), buffer_.size(), &size);
      if (status == KP_STATUS_NOTHING) return KP_STATUS_OK;
      if (status == KP_STATUS_SIZE) {
        buffer_.resize(size);
      } else if (status != KP_STATUS_OK) {
        return status;
      } else {
        send(static_cast<const KpPiece &>(piece), static_cast<const uint8_t *>(buffer_.data()), size);
      }
    }
  }

  std::vector<uint8_t> buffer_ = std::vector<uint8_t>(1200);
};

class Viewer : public Owner<KpViewer, kp_viewer_free> {
 public:
  explicit Viewer(KpCatalogue catalogue, const KpViewerOptions &options = {}) {
    require(kp_viewer_new(catalogue, &options, &handle_));
  }

  KpStatus watch(const std::vector<uint32_t> &tiers) {
    return kp_viewer_watch(handle_, tiers.data(), tiers.size());
  }

  // The tracks to subscribe to.
  std::vector<KpTrack> wanted() const {
    size_t count = 0;
    kp_viewer_wanted(handle_, nullptr, 0, &count);
    std::vector<KpTrack> tracks(count);
    kp_viewer_wanted(handle_, tracks.data(), tracks.size(), &count);
    return tracks;
  }

  Shown shown() const { return Shown(kp_viewer_shown, handle_); }
};

}  // namespace kinepack

#endif  // KINEPACK_CROWD_HPP
